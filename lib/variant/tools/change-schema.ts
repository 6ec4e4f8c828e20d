import { OPERATIONS, PAGE_MATCHES, POSITIONS } from "../document.ts";

const CHANGE = {
  type: "object",
  description:
    "One change. By op: setText text · setHtml html · setAttribute name, value · removeAttribute name · addClass className · removeClass className · setStyle style · insert position, html · move position, target · remove",
  properties: {
    op: {
      type: "string",
      enum: OPERATIONS,
    },
    selector: { type: "string", description: "CSS selector; `a >> b` enters a shadow root" },
    text: { type: "string" },
    html: { type: "string", description: "without scripts and event handlers" },
    name: { type: "string", description: "attribute name" },
    value: { type: "string" },
    className: { type: "string" },
    style: {
      type: "object",
      additionalProperties: { type: "string" },
      description: 'CSS properties, such as {"background-color":"#0a7"}',
    },
    position: { type: "string", enum: [...POSITIONS] },
    target: { type: "string", description: "selector that position is relative to" },
    late: { type: "boolean", description: "the element comes after the page has loaded" },
    note: { type: "string", description: "what the change is for, for people" },
    id: { type: "string", description: "id of an existing change, to replace it" },
    off: { type: "boolean" },
  },
  required: ["op", "selector"],
};

/**
 * The input schema of `apply_variant` that the model sees. It describes all kinds of changes with one flat object,
 * which is shorter than ten alternatives.
 */
export const APPLY_VARIANT_SCHEMA = {
  type: "object",
  properties: {
    variant: { type: "string", description: "key, main by default; b, c … for alternatives" },
    baseRevision: { type: "integer", description: "the newest revision; 0 for a new variant" },
    add: { type: "array", items: { $ref: "#/$defs/change" }, description: "changes of the live page" },
    drop: { type: "array", items: { type: "string" }, description: "ids of changes to remove" },
    css: { type: "string", description: "style sheet of the live page, whole" },
    js: { type: "string", description: "script of the live page, whole: a function body" },
    set: {
      type: "array",
      description: "all pages of the variant, in place of those it has",
      items: {
        type: "object",
        properties: {
          url: { type: "string" },
          match: { type: "string", enum: [...PAGE_MATCHES], description: "path by default" },
          exclude: {
            type: "array",
            description: "addresses that do not match",
            items: {
              type: "object",
              properties: { url: { type: "string" }, match: { type: "string", enum: [...PAGE_MATCHES] } },
              required: ["url", "match"],
            },
          },
          changes: { type: "array", items: { $ref: "#/$defs/change" } },
          css: { type: "string" },
          js: { type: "string" },
          when: {
            type: "string",
            description:
              "only if the default, which waits for hydration, is wrong: now, load, idle, or a selector that must match",
          },
        },
        required: ["url"],
      },
    },
  },
  required: ["baseRevision"],
  $defs: { change: CHANGE },
};
