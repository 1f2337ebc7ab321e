#include "CTOML.h"

#include <cstdio>
#include <deque>
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
    // Spellings that items point to; a deque never moves what it holds.
    std::deque<std::string> texts;
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

static std::string spelled(const toml::date &date) {
    char text[32];
    snprintf(text, sizeof text, "%04u-%02u-%02u", unsigned(date.year), unsigned(date.month), unsigned(date.day));
    return text;
}

static std::string spelled(const toml::time &time) {
    char text[48];
    snprintf(text, sizeof text, "%02u:%02u:%02u", unsigned(time.hour), unsigned(time.minute), unsigned(time.second));
    std::string spelling = text;
    if (time.nanosecond == 0) return spelling;
    snprintf(text, sizeof text, ".%09u", unsigned(time.nanosecond));
    spelling += text;
    return spelling.substr(0, spelling.find_last_not_of('0') + 1);
}

static std::string spelled(const toml::date_time &instant) {
    std::string spelling = spelled(instant.date) + "T" + spelled(instant.time);
    if (!instant.offset) return spelling;
    int minutes = instant.offset->minutes;
    if (minutes == 0) return spelling + "Z";
    unsigned distance = unsigned(minutes < 0 ? -minutes : minutes);
    char text[32];
    snprintf(text, sizeof text, "%c%02u:%02u", minutes < 0 ? '-' : '+', distance / 60, distance % 60);
    return spelling + text;
}

static void set_text(ctoml_item &item, const std::string &text) {
    item.text = text.data();
    item.text_length = text.size();
}

static ctoml_item item_of(ctoml_document &document, const toml::node &node, const toml::key *key) {
    ctoml_item item{};
    item.kind = kind_of(node);
    auto begin = key ? key->source().begin : node.source().begin;
    item.line = begin.line;
    item.column = begin.column;
    if (key) {
        item.key = key->str().data();
        item.key_length = key->str().size();
    }
    if (auto *string = node.as_string()) set_text(item, string->get());
    if (auto *date = node.as_date()) set_text(item, document.texts.emplace_back(spelled(date->get())));
    if (auto *time = node.as_time()) set_text(item, document.texts.emplace_back(spelled(time->get())));
    if (auto *instant = node.as_date_time()) set_text(item, document.texts.emplace_back(spelled(instant->get())));
    if (auto *boolean = node.as_boolean()) item.integer = boolean->get();
    if (auto *integer = node.as_integer()) item.integer = integer->get();
    if (auto *number = node.as_floating_point()) item.number = number->get();
    return item;
}

static void add(ctoml_document &document, const toml::node &node, const toml::key *key, uint32_t depth) {
    auto item = item_of(document, node, key);
    item.depth = depth;
    document.items.push_back(item);
    if (depth == CTOML_DEEPEST) return;
    if (auto *array = node.as_array()) {
        for (auto &&element : *array) add(document, element, nullptr, depth + 1);
    }
    if (auto *table = node.as_table()) {
        for (auto &&[name, value] : *table) add(document, value, &name, depth + 1);
    }
}

ctoml_document *ctoml_parse(const char *text, size_t length) {
    auto *document = new ctoml_document{toml::parse(std::string_view(text, length)), {}, {}, {}};
    if (!document->result) {
        document->error = std::string(document->result.error().description());
        return document;
    }
    for (auto &&[key, node] : document->result.table()) add(*document, node, &key, 0);
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
