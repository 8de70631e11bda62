"""Sign-in pages of login mode."""

from django.contrib.auth import views
from django.urls import path

app_name = "accounts"
urlpatterns = [
    path("accounts/login/", views.LoginView.as_view(), name="login"),
    path("accounts/logout/", views.LogoutView.as_view(), name="logout"),
]
