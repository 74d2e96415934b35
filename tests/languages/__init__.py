"""The languages of pages that workers and visitors see."""
