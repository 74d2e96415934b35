"""Sample external task pages."""

from django.urls import path

from distillery.demo import views

app_name = "examples"
urlpatterns = [path("answer/<int:number>/", views.answer, name="answer")]
