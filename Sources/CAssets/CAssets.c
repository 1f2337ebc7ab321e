#include "CAssets.h"

static const unsigned char openapi[] = {
#embed "../../openapi.yaml"
};

static const unsigned char dashboard[] = {
#embed "dashboard.html"
};

const unsigned char *cassets_openapi(void) { return openapi; }

size_t cassets_openapi_count(void) { return sizeof openapi; }

const unsigned char *cassets_dashboard(void) { return dashboard; }

size_t cassets_dashboard_count(void) { return sizeof dashboard; }
