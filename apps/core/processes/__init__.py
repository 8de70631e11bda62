"""The processes of one server: who starts, watches, locks and ends them."""
