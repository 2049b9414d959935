"""Sphinx's settings for the website of the course."""

project = "minigrad"
html_title = "minigrad"
extensions = ["myst_nb", "sphinx.ext.autodoc"]
myst_enable_extensions = ["colon_fence", "deflist"]
exclude_patterns = ["static", "extra"]

nb_execution_mode = "off"  # the lessons have been run
nb_render_markdown_format = "myst"
myst_heading_anchors = 3

html_theme = "furo"
html_static_path = ["static"]
html_extra_path = ["extra"]
html_css_files = ["site.css"]
html_js_files = [("site.js", {"defer": "defer"})]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"

autodoc_member_order = "bysource"
autodoc_typehints = "none"
python_use_unqualified_type_names = True
