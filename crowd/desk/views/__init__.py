"""Views of the desk: each loads with its permission, calls a service or a selector, and shows a page."""
