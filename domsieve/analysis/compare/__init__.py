"""A page's raw source against what the browser made of it. Implementation; `analysis` names what is public."""
