"""stub"""
from typing import Any
def page_of(report: Any) -> str: return ""
