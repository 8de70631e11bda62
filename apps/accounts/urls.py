"""Sign-in pages of login mode; in local mode everybody is the local person already."""

from django.contrib.auth import views
from django.urls import path

from apps.accounts.forms import LoginForm
from apps.core.web.http import form_of

app_name = "accounts"
urlpatterns = [
    path(
        "accounts/login/",
        views.LoginView.as_view(
            template_name="accounts/login.html",
            authentication_form=LoginForm,
            redirect_authenticated_user=True,
        ),
        name="login",
    ),
    path(
        "accounts/logout/",
        form_of("chat:home")(views.LogoutView.as_view(next_page="accounts:login")),
        name="logout",
    ),
]
