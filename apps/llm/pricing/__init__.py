"""What calls use and cost, and the catalogue of vendors, models and prices."""
