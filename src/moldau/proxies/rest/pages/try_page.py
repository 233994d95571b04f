"""The page at `/try`: all calls of `/openapi.json`, with fields and a button. It loads nothing from elsewhere."""

from typing import Final

PAGE: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Moldau REST proxy</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color: #222; }
details { border: 1px solid #ddd; border-radius: 6px; margin: .4em 0; padding: .4em .8em; }
summary { cursor: pointer; } summary code { font-weight: 600; }
label { display: block; margin: .5em 0; } label span { display: inline-block; min-width: 12em; color: #555; }
input, select, textarea { font: 13px monospace; padding: .3em; width: 28em; max-width: 100%; }
textarea { width: 100%; height: 8em; box-sizing: border-box; }
pre { background: #f5f5f5; padding: .8em; overflow: auto; max-height: 30em; white-space: pre-wrap; }
button { font: inherit; padding: .3em 1.2em; }
.method { display: inline-block; min-width: 4.5em; font-weight: 700; color: #06c; }
</style></head><body>
<h1>Moldau REST proxy</h1>
<p>Every call of the API, to try it here. The description for programs is at
<a href="openapi.json">/openapi.json</a>.</p>
<div id="calls">Loading the description.</div>
<script>
"use strict";
const EXAMPLES = {
  V2Records: {records: [{key: "alice", value: {item: "apples", count: 2}}]},
  V2NewInstance: {name: "first", format: "json", "auto.offset.reset": "earliest"},
  V2Subscription: {topics: ["orders"]},
  V2PartitionList: {partitions: [{topic: "orders", partition: 0}]},
  V2OffsetList: {offsets: [{topic: "orders", partition: 0, offset: 0}]},
  V3NewTopic: {topic_name: "orders", partitions_count: 1},
  V3Partitions: {partitions_count: 3},
  V3Value: {value: "1000"},
  V3Changes: {data: [{name: "retention.ms", value: "1000"}]},
  V3Record: {key: {type: "STRING", data: "alice"}, value: {type: "JSON", data: {count: 2}}},
  V3Batch: {entries: [{id: "1", value: {type: "JSON", data: {count: 2}}}]},
  ManyRecords: {topics: {orders: {records: [{value: 1}]}}},
  Poll: {topics: {orders: "earliest"}}
};
function make(tag, text, parent) {
  const element = document.createElement(tag);
  if (text) element.textContent = text;
  if (parent) parent.append(element);
  return element;
}
function field(form, name, hint, tag) {
  const label = make("label", "", form);
  make("span", name, label);
  const input = make(tag || "input", "", label);
  if (hint) input.placeholder = hint;
  return input;
}
function show(parent, path, method, operation) {
  const box = make("details", "", parent), head = make("summary", "", box);
  make("span", method.toUpperCase(), head).className = "method";
  make("code", path, head);
  make("span", " " + operation.summary, head);
  const inputs = operation.parameters.map(one => [one, field(box, one.name, one.description)]);
  let type, body;
  if (operation.requestBody) {
    const content = operation.requestBody.content;
    type = field(box, "Content-Type", "", "select");
    Object.keys(content).forEach(each => make("option", each, type));
    body = field(box, "body", "", "textarea");
    const schema = Object.values(content)[0].schema;
    const name = (schema["$ref"] || schema.anyOf[0]["$ref"]).split("/").pop();
    body.value = EXAMPLES[name] ? JSON.stringify(EXAMPLES[name], null, 1) : "";
  }
  const button = make("button", "Send", box), out = make("pre", "", box);
  out.hidden = true;
  button.onclick = async () => {
    let target = path;
    const query = new URLSearchParams();
    for (const [one, input] of inputs) {
      if (one.in === "path") target = target.replace(`{${one.name}}`, encodeURIComponent(input.value));
      else if (input.value) query.append(one.name, input.value);
    }
    const url = "." + target + (query.size ? "?" + query : "");
    out.hidden = false;
    out.textContent = method.toUpperCase() + " " + url + "\\n";
    if (path === "/events") {
      const source = new EventSource(url);
      source.onmessage = event => { out.textContent += event.data + "\\n"; };
      return;
    }
    const options = {method: method.toUpperCase(), headers: {}};
    if (body && body.value && method !== "get") {
      options.headers["Content-Type"] = type.value;
      options.body = body.value;
    }
    try {
      const reply = await fetch(url, options), text = await reply.text();
      let shown = text;
      try { shown = JSON.stringify(JSON.parse(text), null, 1); } catch (error) { shown = text; }
      out.textContent += reply.status + " " + reply.statusText + "\\n" + shown;
    } catch (error) {
      out.textContent += "The proxy does not answer: " + error;
    }
  };
}
fetch("openapi.json").then(reply => reply.json()).then(api => {
  const calls = document.getElementById("calls"), groups = {};
  calls.textContent = "";
  for (const [path, methods] of Object.entries(api.paths))
    for (const [method, operation] of Object.entries(methods)) {
      const tag = operation.tags[0];
      if (!groups[tag]) { make("h2", tag, calls); groups[tag] = make("div", "", calls); }
      show(groups[tag], path, method, operation);
    }
});
</script></body></html>
"""
