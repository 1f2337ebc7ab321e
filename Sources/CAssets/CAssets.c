#include "CAssets.h"

static const unsigned char openapi[] = {
#embed "../../openapi.yaml"
};

const unsigned char *cassets_openapi(void) { return openapi; }

size_t cassets_openapi_count(void) { return sizeof openapi; }
