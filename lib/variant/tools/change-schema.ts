import { type OPERATIONS, PAGE_MATCHES, POSITIONS } from "../document.ts";

/** The fields of each operation, in addition to its selector. */
const FIELDS: Record<(typeof OPERATIONS)[number], string> = {
  setText: "text",
  setHtml: "html",
  setAttribute: "name, value",
  removeAttribute: "name",
  addClass: "className",
  removeClass: "className",
  setStyle: "style",
  insert: "position, html",
  move: "position, target",
  remove: "",
};

const describeOperation = ([operation, fields]: [string, string]): string =>
  fields === "" ? operation : `${operation} (${fields})`;

const CHANGE = {
  type: "object",
  properties: {
    op: { type: "string", description: Object.entries(FIELDS).map(describeOperation).join(" | ") },
    selector: { type: "string", description: "CSS; `a >> b` enters a shadow root" },
    text: { type: "string" },
    html: { type: "string", description: "no scripts" },
    name: { type: "string" },
    value: { type: "string" },
    className: { type: "string" },
    style: {
      type: "object",
      additionalProperties: { type: "string" },
      description: "CSS properties",
    },
    position: { type: "string", enum: [...POSITIONS] },
    target: { type: "string", description: "what position is relative to" },
    late: { type: "boolean", description: "the element comes after the load" },
    note: { type: "string", description: "for people" },
    id: { type: "string", description: "of the change to replace" },
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
    variant: { type: "string", description: "main by default; b, c … for alternatives" },
    baseRevision: { type: "integer", description: "the newest revision; 0 for a new variant" },
    add: { type: "array", items: CHANGE, description: "changes of this page" },
    drop: { type: "array", items: { type: "string" }, description: "ids of changes to remove" },
    css: { type: "string", description: "whole style sheet of this page" },
    js: { type: "string", description: "whole script of this page: a function body" },
    set: {
      type: "array",
      items: { type: "object", properties: {} },
      description: `replaces all pages of the variant: { url, match: ${PAGE_MATCHES.join(" | ")} (path by default), exclude: [{ url, match }], changes, css, js, when: now | load | idle | a selector (only if waiting for hydration is wrong) }`,
    },
  },
  required: ["baseRevision"],
};
