#include "CAssets.h"

static const unsigned char openapi[] = {
#embed "../../openapi.yaml"
};

static const unsigned char openapi_json[] = {
#embed "reference/openapi.json"
};

static const unsigned char reference_page[] = {
#embed "reference/page.html"
};

static const unsigned char reference_style[] = {
#embed "reference/style.css"
};

static const unsigned char reference_script[] = {
#embed "reference/script.js"
};

static const unsigned char page[] = {
#embed "dashboard/page.html"
};

static const unsigned char style[] = {
#embed "dashboard/style.css"
};

// The scripts share one scope. A function may use what later files declare; code that runs while its file is read may use
// only what earlier files declare. So the order counts, and `frames.js`, which starts the page, is the last.
static const unsigned char script[] = {
#embed "dashboard/dom.js" suffix(, )
#embed "dashboard/time.js" suffix(, )
#embed "dashboard/api.js" suffix(, )
#embed "dashboard/access.js" suffix(, )
#embed "dashboard/store.js" suffix(, )
#embed "dashboard/health.js" suffix(, )
#embed "dashboard/stream.js" suffix(, )
#embed "dashboard/tabs.js" suffix(, )
#embed "dashboard/commands.js" suffix(, )
#embed "dashboard/reads.js" suffix(, )
#embed "dashboard/list.js" suffix(, )
#embed "dashboard/feed.js" suffix(, )
#embed "dashboard/charts.js" suffix(, )
#embed "dashboard/details.js" suffix(, )
#embed "dashboard/pointer.js" suffix(, )
#embed "dashboard/holds.js" suffix(, )
#embed "dashboard/bulk.js" suffix(, )
#embed "dashboard/deliveries.js" suffix(, )
#embed "dashboard/timeline.js" suffix(, )
#embed "dashboard/cluster.js" suffix(, )
#embed "dashboard/forms.js" suffix(, )
#embed "dashboard/dialogs.js" suffix(, )
#embed "dashboard/parts.js" suffix(, )
#embed "dashboard/filters.js" suffix(, )
#embed "dashboard/keys.js" suffix(, )
#embed "dashboard/theme.js" suffix(, )
#embed "dashboard/route.js" suffix(, )
#embed "dashboard/frames.js"
};

static const unsigned char parts_page[] = {
#embed "dashboard/parts/page.html"
};

static const unsigned char parts_style[] = {
#embed "dashboard/parts/style.css"
};

// The page runs these after its own scripts, in the same scope.
static const unsigned char parts_script[] = {
#embed "dashboard/parts/fires.js" suffix(, )
#embed "dashboard/parts/about.js" suffix(, )
#embed "dashboard/parts/fields.js" suffix(, )
#embed "dashboard/parts/form.js" suffix(, )
#embed "dashboard/parts/builder.js" suffix(, )
#embed "dashboard/parts/calendars.js"
};

const unsigned char *cassets_openapi(void) { return openapi; }
size_t cassets_openapi_count(void) { return sizeof openapi; }

const unsigned char *cassets_openapi_json(void) { return openapi_json; }
size_t cassets_openapi_json_count(void) { return sizeof openapi_json; }

const unsigned char *cassets_reference_page(void) { return reference_page; }
size_t cassets_reference_page_count(void) { return sizeof reference_page; }

const unsigned char *cassets_reference_style(void) { return reference_style; }
size_t cassets_reference_style_count(void) { return sizeof reference_style; }

const unsigned char *cassets_reference_script(void) { return reference_script; }
size_t cassets_reference_script_count(void) { return sizeof reference_script; }

const unsigned char *cassets_dashboard_page(void) { return page; }
size_t cassets_dashboard_page_count(void) { return sizeof page; }

const unsigned char *cassets_dashboard_style(void) { return style; }
size_t cassets_dashboard_style_count(void) { return sizeof style; }

const unsigned char *cassets_dashboard_script(void) { return script; }
size_t cassets_dashboard_script_count(void) { return sizeof script; }

const unsigned char *cassets_parts_page(void) { return parts_page; }
size_t cassets_parts_page_count(void) { return sizeof parts_page; }

const unsigned char *cassets_parts_style(void) { return parts_style; }
size_t cassets_parts_style_count(void) { return sizeof parts_style; }

const unsigned char *cassets_parts_script(void) { return parts_script; }
size_t cassets_parts_script_count(void) { return sizeof parts_script; }
