// Files that are part of the binary. Each function that returns bytes has one beside it that says how many there are.
#pragma once
#include <stddef.h>

/// openapi.yaml.
const unsigned char *cassets_openapi(void);
size_t cassets_openapi_count(void);

/// reference/openapi.json: the same in JSON.
const unsigned char *cassets_openapi_json(void);
size_t cassets_openapi_json_count(void);

/// reference/page.html, whose `style` and `script` are empty.
const unsigned char *cassets_reference_page(void);
size_t cassets_reference_page_count(void);

/// reference/style.css.
const unsigned char *cassets_reference_style(void);
size_t cassets_reference_style_count(void);

/// reference/script.js.
const unsigned char *cassets_reference_script(void);
size_t cassets_reference_script_count(void);

/// dashboard/page.html, whose `style` and `script` are empty.
const unsigned char *cassets_dashboard_page(void);
size_t cassets_dashboard_page_count(void);

/// dashboard/style.css.
const unsigned char *cassets_dashboard_style(void);
size_t cassets_dashboard_style_count(void);

/// The scripts in dashboard, one after the other.
const unsigned char *cassets_dashboard_script(void);
size_t cassets_dashboard_script_count(void);

/// dashboard/parts/page.html, whose `style` and `script` are empty.
const unsigned char *cassets_parts_page(void);
size_t cassets_parts_page_count(void);
/// dashboard/parts/style.css.
const unsigned char *cassets_parts_style(void);
size_t cassets_parts_style_count(void);
/// The scripts in dashboard/parts, one after the other.
const unsigned char *cassets_parts_script(void);
size_t cassets_parts_script_count(void);
