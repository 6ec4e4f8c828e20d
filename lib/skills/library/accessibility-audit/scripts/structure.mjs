#!/usr/bin/env node
import { groupFindings, printReport, readArguments, readText, refuse } from "./lib/command.mjs";
import {
  attribute,
  closest,
  findAll,
  indexOf,
  isHidden,
  nameOf,
  parseHtml,
  selectorOf,
  textOf,
} from "./lib/html.mjs";

/** @typedef {import("./lib/html.mjs").Element} Element */
/** @typedef {import("./lib/command.mjs").Finding} Finding */

const HELP = `Usage: structure.mjs <page.html>

Checks the structure of a saved page: headings, landmarks, language, names of pictures, links, buttons and frames,
ids, ARIA references, tables and tab order. Prints JSON: outline, landmarks, findings grouped by rule.

Exit code: 0 nothing fails, 1 something fails, 2 wrong use or a file that cannot be read.`;

const { values, positionals } = readArguments(HELP, { help: { type: "boolean" } });

/** @param {string} path */
function checkPage(path) {
  const root = parseHtml(readText(path));
  const index = indexOf(root);
  const visible = index.all.filter((element) => !isHidden(element));
  const headings = readHeadings(visible);
  const landmarks = readLandmarks(visible, index);
  /** @type {Finding[]} */
  const findings = [
    ...checkDocument(root),
    ...checkHeadings(headings),
    ...checkLandmarks(landmarks, visible),
    ...checkNames(visible, index),
    ...checkIds(index),
    ...checkTables(visible),
    ...checkFocus(visible),
  ];
  const outline = headings.map(
    ({ level, text }) => `${"  ".repeat(level - 1)}h${level} ${text || "(empty)"}`,
  );
  const shown = landmarks.map(({ role, name }) => (name === "" ? role : `${role}: ${name}`));
  printReport({ page: path, outline, landmarks: shown, findings: groupFindings(findings) }, findings);
}

/** @param {Element} root @returns {Finding[]} */
function checkDocument(root) {
  /** @type {Finding[]} */
  const findings = [];
  const html = findAll(root, ({ tag }) => tag === "html")[0];
  const language = html && attribute(html, "lang")?.trim();
  if (!language)
    findings.push({
      severity: "fail",
      rule: "language",
      message: "The page does not say its language: <html lang>.",
      selector: "html",
    });
  else if (!/^[a-z]{2,3}(-[a-z0-9]{2,8})*$/i.test(language))
    findings.push({
      severity: "fail",
      rule: "language",
      message: `lang="${language}" is not a language tag.`,
      selector: "html",
    });
  const title = findAll(root, ({ tag, parent }) => tag === "title" && parent?.tag !== "svg")[0];
  if (!title || textOf(title) === "")
    findings.push({ severity: "fail", rule: "title", message: "The page has no title.", selector: "head" });
  const viewport = findAll(root, (each) => each.tag === "meta" && attribute(each, "name") === "viewport")[0];
  const content = (viewport && attribute(viewport, "content")) ?? "";
  if (
    /user-scalable\s*=\s*(no|0)/i.test(content) ||
    /maximum-scale\s*=\s*(0?\.\d+|1(\.\d+)?)(?![\d.])/i.test(content)
  )
    findings.push({
      severity: "fail",
      rule: "zoom",
      message: `The viewport keeps people from zooming: ${content}`,
      selector: 'meta[name="viewport"]',
    });
  return findings;
}

/** @param {Element[]} visible */
const readHeadings = (visible) =>
  visible.flatMap((element) => {
    const own = /^h([1-6])$/.exec(element.tag);
    const isHeading = own ? !attribute(element, "role") : attribute(element, "role") === "heading";
    if (!isHeading) return [];
    const level = Number(attribute(element, "aria-level") ?? own?.[1] ?? 2);
    return [
      { level: Math.min(9, Math.max(1, level || 2)), text: textOf(element, { alternatives: true }), element },
    ];
  });

/** @param {ReturnType<typeof readHeadings>} headings @returns {Finding[]} */
function checkHeadings(headings) {
  /** @type {Finding[]} */
  const findings = [];
  const tops = headings.filter(({ level }) => level === 1);
  if (tops.length === 0) findings.push({ severity: "fail", rule: "h1", message: "The page has no h1." });
  if (tops.length > 1)
    findings.push({
      severity: "warn",
      rule: "h1",
      message: `The page has ${tops.length} h1.`,
      excerpt: tops
        .map(({ text }) => text)
        .join(" | ")
        .slice(0, 200),
    });
  let before = 0;
  for (const { level, text, element } of headings) {
    const selector = selectorOf(element);
    if (text === "")
      findings.push({ severity: "fail", rule: "empty-heading", message: `An empty h${level}.`, selector });
    if (before > 0 && level > before + 1)
      findings.push({
        severity: "warn",
        rule: "skipped-level",
        message: `h${level} follows h${before}.`,
        selector,
        excerpt: text.slice(0, 80),
      });
    before = level;
  }
  return findings;
}

/** @type {Record<string, string>} */
const LANDMARK_OF = { main: "main", nav: "navigation", aside: "complementary", search: "search" };
const ROLES = new Set([
  "main",
  "navigation",
  "banner",
  "contentinfo",
  "complementary",
  "search",
  "region",
  "form",
]);
const SECTIONS = ["article", "aside", "main", "nav", "section"];

/** @param {Element[]} visible @param {ReturnType<typeof indexOf>} index */
const readLandmarks = (visible, index) =>
  visible.flatMap((element) => {
    const name =
      attribute(element, "aria-label") ?? index.byId.get(attribute(element, "aria-labelledby") ?? "");
    const label = typeof name === "string" ? name : name ? textOf(name) : "";
    const explicit = attribute(element, "role");
    const isTop = !closest(element, ({ tag }) => SECTIONS.includes(tag));
    const implied =
      LANDMARK_OF[element.tag] ??
      (element.tag === "header" && isTop
        ? "banner"
        : element.tag === "footer" && isTop
          ? "contentinfo"
          : undefined) ??
      (["section", "form"].includes(element.tag) && label !== ""
        ? element.tag === "form"
          ? "form"
          : "region"
        : undefined);
    const role = explicit ?? implied;
    return role !== undefined && ROLES.has(role) ? [{ role, name: label, element }] : [];
  });

/** @param {ReturnType<typeof readLandmarks>} landmarks @param {Element[]} visible @returns {Finding[]} */
function checkLandmarks(landmarks, visible) {
  /** @type {Finding[]} */
  const findings = [];
  const mains = landmarks.filter(({ role }) => role === "main");
  if (mains.length === 0)
    findings.push({ severity: "fail", rule: "main", message: "The page has no main landmark." });
  if (mains.length > 1)
    findings.push({
      severity: "fail",
      rule: "main",
      message: `The page has ${mains.length} main landmarks.`,
    });
  for (const role of ["navigation", "complementary", "region"]) {
    const same = landmarks.filter((each) => each.role === role);
    /** @type {Map<string, number>} */
    const counts = new Map();
    for (const { name } of same) counts.set(name, (counts.get(name) ?? 0) + 1);
    for (const { name, element } of same)
      if (same.length > 1 && (name === "" || (counts.get(name) ?? 0) > 1))
        findings.push({
          severity: "warn",
          rule: "landmark-name",
          message: `One of ${same.length} ${role} landmarks that its name does not tell apart${name === "" ? "" : `: ${name}`}.`,
          selector: selectorOf(element),
        });
  }
  const first = visible.find((each) => each.tag === "a" && attribute(each, "href") !== undefined);
  const links = visible.filter(({ tag }) => tag === "a").length;
  if (links > 10 && !(first && /^#./.test(attribute(first, "href") ?? "")))
    findings.push({
      severity: "warn",
      rule: "skip-link",
      message: "The first link does not skip to the content.",
    });
  return findings;
}

const VAGUE =
  /^(click|tap|here|click here|read more|more|learn more|link|this|details|continue|go|mehr|weiter|hier)$/i;
const FILE_NAME = /\.(png|jpe?g|gif|svg|webp|avif)$|^(img|dsc|image|photo|picture|untitled)[\s_-]*\d*$/i;

const NAMED = new Set(["a", "button", "iframe", "img", "input", "select", "svg", "textarea"]);

/** @param {Element[]} visible @param {ReturnType<typeof indexOf>} index @returns {Finding[]} */
function checkNames(visible, index) {
  /** @type {Finding[]} */
  const findings = [];
  /** @param {Finding["severity"]} severity @param {string} rule @param {string} message @param {Element} element */
  const add = (severity, rule, message, element) =>
    findings.push({
      severity,
      rule,
      message,
      selector: selectorOf(element),
      excerpt: textOf(element).slice(0, 80),
    });
  for (const element of visible) {
    const role = attribute(element, "role");
    if (!NAMED.has(element.tag) && role === undefined && !element.attributes.has("onclick")) continue;
    const { name, from } = nameOf(element, index);
    if (element.tag === "img" && role !== "presentation" && role !== "none") {
      const alt = attribute(element, "alt");
      if (alt === undefined && name === "")
        add(
          "fail",
          "picture-name",
          `A picture has no alt: ${attribute(element, "src")?.slice(0, 100) ?? ""}`,
          element,
        );
      else if (alt !== undefined && FILE_NAME.test(alt.trim()))
        add("fail", "picture-name", `alt is a file name: ${alt}`, element);
    }
    if (element.tag === "svg" && role === "img" && name === "")
      add("fail", "picture-name", "A drawing with the role img has no name.", element);
    if (element.tag === "a" && attribute(element, "href") !== undefined) {
      if (name === "") add("fail", "link-name", "A link has no name.", element);
      else if (VAGUE.test(name))
        add("warn", "vague-link", `The link "${name}" says nothing without its surroundings.`, element);
    }
    if ((element.tag === "button" || role === "button") && name === "")
      add("fail", "button-name", "A button has no name.", element);
    else if (element.tag === "button" && from === "title")
      add("warn", "button-name", "A button is named by its title alone.", element);
    if (element.tag === "iframe" && name === "") add("fail", "frame-name", "A frame has no title.", element);
    const isField =
      ["input", "select", "textarea"].includes(element.tag) &&
      !["hidden", "submit", "button", "reset", "image"].includes(
        attribute(element, "type")?.toLowerCase() ?? "",
      );
    if (isField && name === "")
      add("fail", "field-name", "A form field has no name; see the skill form-audit.", element);
    if ((element.tag === "div" || element.tag === "span") && element.attributes.has("onclick") && !role)
      add(
        "fail",
        "click-role",
        `A ${element.tag} with a click handler is neither a button nor a link.`,
        element,
      );
  }
  return findings;
}

const REFERENCES = ["aria-labelledby", "aria-describedby", "aria-controls", "aria-owns", "for"];

/** @param {ReturnType<typeof indexOf>} index @returns {Finding[]} */
function checkIds({ all, byId, sameId }) {
  /** @type {Finding[]} */
  const findings = [];
  const used = new Set(
    all.flatMap((each) => REFERENCES.flatMap((name) => (attribute(each, name) ?? "").split(/\s+/))),
  );
  for (const [id, elements] of sameId)
    if (elements.length > 1)
      findings.push({
        severity: used.has(id) ? "fail" : "warn",
        rule: used.has(id) ? "duplicate-id-used" : "duplicate-id",
        message: `${elements.length} elements have the id "${id}".`,
      });
  for (const element of all)
    for (const name of REFERENCES)
      for (const id of (attribute(element, name) ?? "").split(/\s+/).filter(Boolean))
        if (!byId.has(id) && name !== "aria-controls")
          findings.push({
            severity: "fail",
            rule: "broken-reference",
            message: `${name}="${id}" names an element that does not exist.`,
            selector: selectorOf(element),
          });
  return findings;
}

/** @param {Element[]} visible @returns {Finding[]} */
const checkTables = (visible) =>
  visible
    .filter(
      (each) => each.tag === "table" && !["presentation", "none"].includes(attribute(each, "role") ?? ""),
    )
    .filter(
      (table) =>
        findAll(table, ({ tag }) => tag === "td").length > 3 &&
        findAll(table, ({ tag }) => tag === "th").length === 0,
    )
    .map((table) => ({
      severity: "warn",
      rule: "table-headers",
      message: "A table of data has no header cells.",
      selector: selectorOf(table),
    }));

const FOCUSABLE = new Set(["a", "button", "input", "select", "textarea"]);

/** @param {Element[]} visible @returns {Finding[]} */
function checkFocus(visible) {
  /** @type {Finding[]} */
  const findings = [];
  for (const element of visible) {
    const order = attribute(element, "tabindex");
    if (order !== undefined && Number(order) > 0)
      findings.push({
        severity: "warn",
        rule: "tab-order",
        message: `tabindex="${order}" changes the order of the keyboard.`,
        selector: selectorOf(element),
      });
    if (FOCUSABLE.has(element.tag) && closest(element, (each) => each.tag === "a" || each.tag === "button"))
      findings.push({
        severity: "fail",
        rule: "nested-control",
        message: `A ${element.tag} lies inside of another control.`,
        selector: selectorOf(element),
      });
  }
  return findings;
}

if (values.help) console.log(HELP);
else if (positionals.length !== 1) refuse(HELP);
else checkPage(positionals[0] ?? "");
