#include "CTOML.h"

#include <string>
#include <string_view>
#include <vector>

// All of the library is compiled here, so that there is none to find when the program runs.
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

struct ctoml_document {
    toml::parse_result result;
    std::string error;
    std::vector<ctoml_item> items;
};

static ctoml_kind kind_of(const toml::node &node) {
    switch (node.type()) {
    case toml::node_type::string: return CTOML_STRING;
    case toml::node_type::integer: return CTOML_INTEGER;
    case toml::node_type::floating_point: return CTOML_FLOAT;
    case toml::node_type::boolean: return CTOML_BOOLEAN;
    case toml::node_type::array: return CTOML_ARRAY;
    case toml::node_type::table: return CTOML_TABLE;
    default: return CTOML_TIME;
    }
}

static ctoml_item item_of(const toml::node &node, const toml::key *key) {
    ctoml_item item{};
    item.kind = kind_of(node);
    item.line = key ? key->source().begin.line : node.source().begin.line;
    if (key) {
        item.key = key->str().data();
        item.key_length = key->str().size();
    }
    if (auto *string = node.as_string()) {
        item.text = string->get().data();
        item.text_length = string->get().size();
    }
    if (auto *boolean = node.as_boolean()) item.integer = boolean->get();
    if (auto *integer = node.as_integer()) item.integer = integer->get();
    return item;
}

ctoml_document *ctoml_parse(const char *text, size_t length) {
    auto *document = new ctoml_document{toml::parse(std::string_view(text, length)), {}, {}};
    if (!document->result) {
        document->error = std::string(document->result.error().description());
        return document;
    }
    for (auto &&[key, node] : document->result.table()) {
        document->items.push_back(item_of(node, &key));
        if (auto *array = node.as_array()) {
            for (auto &&element : *array) document->items.push_back(item_of(element, nullptr));
        }
    }
    return document;
}

const char *ctoml_error(const ctoml_document *document) {
    return document->result ? nullptr : document->error.c_str();
}

uint32_t ctoml_error_line(const ctoml_document *document) {
    return document->result ? 0 : document->result.error().source().begin.line;
}

size_t ctoml_count(const ctoml_document *document) { return document->items.size(); }

ctoml_item ctoml_item_at(const ctoml_document *document, size_t place) { return document->items[place]; }

void ctoml_free(ctoml_document *document) { delete document; }
