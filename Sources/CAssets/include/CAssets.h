// Files that are part of the binary.
#pragma once
#include <stddef.h>

/// The bytes of openapi.yaml.
const unsigned char *cassets_openapi(void);
/// How many there are.
size_t cassets_openapi_count(void);

/// The bytes of dashboard.html.
const unsigned char *cassets_dashboard(void);
/// How many there are.
size_t cassets_dashboard_count(void);
