#!/usr/bin/env node
import { expectedToken, isValidAutocomplete } from "./lib/autocomplete.mjs";
import { groupFindings, printReport, readArguments, readText, refuse } from "./lib/command.mjs";
import {
  addTo,
  attribute,
  closest,
  elementsOf,
  findAll,
  indexOf,
  isHidden,
  nameOf,
  parseHtml,
  selectorOf,
  textOf,
} from "./lib/html.mjs";

/** @typedef {import("./lib/html.mjs").Element} Element */
/** @typedef {ReturnType<typeof indexOf>} Index */
/** @typedef {import("./lib/command.mjs").Finding} Finding */

const HELP = `Usage: form-check.mjs <page.html>

Checks the forms of a saved page: labels, autocomplete tokens, input types and keyboards, groups of options, marks of
required fields, error messages and their fields, submit buttons, blocked pasting. Prints JSON: each form with its
fields, and findings grouped by rule.

Exit code: 0 nothing fails, 1 something fails, 2 wrong use or a file that cannot be read.`;

const { values, positionals } = readArguments(HELP, { help: { type: "boolean" } });

const NOT_FIELDS = new Set(["hidden", "submit", "button", "reset", "image"]);
/** @param {Element} element */
const typeOf = (element) =>
  element.tag === "input" ? (attribute(element, "type") ?? "text").toLowerCase() : element.tag;
/** @param {Element} element */
const isField = (element) =>
  (element.tag === "input" && !NOT_FIELDS.has(typeOf(element))) ||
  ["select", "textarea"].includes(element.tag);

/** @param {string} path */
function checkPage(path) {
  const root = parseHtml(readText(path));
  const index = indexOf(root);
  const fields = index.all.filter((element) => isField(element) && !isHidden(element));
  const forms = index.all.filter(({ tag }) => tag === "form");
  /** @type {Finding[]} */
  const findings = [
    ...fields.flatMap((field) => checkField(field, index)),
    ...checkGroups(fields, index),
    ...forms.filter((form) => !isHidden(form)).flatMap((form) => checkForm(form, index)),
    ...checkErrors(index),
    ...checkNames(fields),
  ];
  /** @type {Map<Element | null, Element[]>} */
  const owned = new Map();
  for (const field of fields) addTo(owned, ownerOf(field, index) ?? null, field);
  const owners = [...forms, null].map((form) => ({
    form: form ? selectorOf(form) : "(outside of a form)",
    fields: (owned.get(form) ?? []).map((field) => describeField(field, index)),
  }));
  const shown = owners.filter(({ fields: own }) => own.length > 0);
  printReport({ page: path, forms: shown, findings: groupFindings(findings) }, findings);
}

/** @param {Element} field @param {Index} index */
const ownerOf = (field, index) => {
  const id = attribute(field, "form");
  return id === undefined ? closest(field, ({ tag }) => tag === "form") : index.byId.get(id);
};

/** @param {Element} field @param {Index} index */
function describeField(field, index) {
  const { name, from } = nameOf(field, index);
  return {
    label: name || null,
    from,
    type: typeOf(field),
    name: attribute(field, "name") ?? null,
    autocomplete: attribute(field, "autocomplete") ?? null,
    isRequired: isRequired(field),
    selector: selectorOf(field),
  };
}

/** @param {Element} field */
const isRequired = (field) =>
  field.attributes.has("required") || attribute(field, "aria-required") === "true";

/** @param {Element} field @param {Index} index @returns {Finding[]} */
function checkField(field, index) {
  /** @type {Finding[]} */
  const findings = [];
  const selector = selectorOf(field);
  const { name, from } = nameOf(field, index);
  const type = typeOf(field);
  const placeholder = (attribute(field, "placeholder") ?? "").trim();
  /** @param {Finding["severity"]} severity @param {string} rule @param {string} message */
  const add = (severity, rule, message) =>
    findings.push({ severity, rule, message, selector, excerpt: name || placeholder });
  if (name === "" && placeholder !== "")
    add(
      "fail",
      "placeholder-as-label",
      `Only the placeholder "${placeholder}" says what belongs here; it is gone once someone types.`,
    );
  else if (name === "") add("fail", "label", `A field (${type}) has no label.`);
  else if (from === "title")
    add("warn", "label", "The field is named by its title alone, which touch screens do not show.");
  else if (from === "aria-label" && type !== "search" && placeholder === "")
    add(
      "warn",
      "invisible-label",
      `The label "${name}" is for screen readers only; make sure that people can see what belongs here.`,
    );
  findings.push(
    ...checkInput(
      field,
      `${name} ${placeholder} ${attribute(field, "name") ?? ""} ${attribute(field, "id") ?? ""}`,
    ),
  );
  if (isRequired(field) && /\boptional\b/i.test(name))
    add("fail", "required-mark", "The label says optional, but the field is required.");
  if (/\*\s*$|^\s*\*/.test(name) && !isRequired(field))
    add(
      "warn",
      "required-mark",
      `The label "${name}" has a mark, but the field is not required in the markup (required).`,
    );
  if (/return\s+false|preventDefault/.test(attribute(field, "onpaste") ?? ""))
    add("fail", "paste", "Pasting is blocked, which keeps password managers out.");
  return findings;
}

/**
 * Checks whether the type, keyboard and autocomplete token of a field suit what the field seems to ask for.
 * @param {Element} field @param {string} words @returns {Finding[]}
 */
function checkInput(field, words) {
  /** @type {Finding[]} */
  const findings = [];
  const type = typeOf(field);
  const selector = selectorOf(field);
  /** @param {Finding["severity"]} severity @param {string} rule @param {string} message */
  const add = (severity, rule, message) =>
    findings.push({ severity, rule, message, selector, excerpt: words.trim().slice(0, 80) });
  const token = (attribute(field, "autocomplete") ?? "").trim().toLowerCase();
  const expected = expectedToken(words, type);
  if (token !== "" && !["on", "off"].includes(token) && !isValidAutocomplete(token))
    add(
      "fail",
      "autocomplete-token",
      `autocomplete="${token}" is not a value of the HTML standard${expected ? `; use "${expected.token}"` : ""}.`,
    );
  else if (expected && token === "off" && expected.isPersonal)
    add("fail", "autocomplete-off", `autocomplete is off; use "${expected.token}" (WCAG 1.3.5).`);
  else if (expected && (token === "" || token === "on") && expected.isPersonal)
    add("fail", "autocomplete-missing", `No autocomplete; use "${expected.token}" (WCAG 1.3.5).`);
  if (type !== "text" && type !== "number") return findings;
  const mode = (attribute(field, "inputmode") ?? "").toLowerCase();
  if (expected?.type && type === "text" && expected.type !== "text")
    add(
      "warn",
      "input-type",
      `type="text" for ${expected.what}; type="${expected.type}" brings the right keyboard.`,
    );
  if (expected?.isDigits && type === "number")
    add(
      "fail",
      "input-type",
      `type="number" for ${expected.what}: digits are not an amount. Use type="text" inputmode="numeric".`,
    );
  if (expected?.isDigits && type === "text" && mode !== "numeric" && mode !== "decimal")
    add("warn", "input-mode", `No inputmode="numeric" for ${expected.what}.`);
  return findings;
}

/**
 * Checks that radio buttons and checkboxes with the same name attribute have a group label.
 * @param {Element[]} fields @param {Index} index @returns {Finding[]}
 */
function checkGroups(fields, index) {
  /** @type {Map<string, Element[]>} */
  const groups = new Map();
  for (const field of fields) {
    const name = attribute(field, "name");
    if (!name || !["radio", "checkbox"].includes(typeOf(field))) continue;
    const owner = ownerOf(field, index);
    const key = `${typeOf(field)} ${name} ${owner ? selectorOf(owner) : ""}`;
    addTo(groups, key, field);
  }
  /** @type {Finding[]} */
  const findings = [];
  for (const group of groups.values()) {
    const [first] = group;
    if (!first || group.length < 2) continue;
    const box = closest(
      first,
      (each) => each.tag === "fieldset" || ["group", "radiogroup"].includes(attribute(each, "role") ?? ""),
    );
    const legend = box && findAll(box, ({ tag }) => tag === "legend")[0];
    const isNamed =
      (legend && textOf(legend) !== "") ||
      (box && ["aria-labelledby", "aria-label"].includes(nameOf(box, index).from));
    if (!isNamed)
      findings.push({
        severity: "fail",
        rule: "group-name",
        message: `${group.length} options of "${attribute(first, "name")}" have no common question (fieldset with legend).`,
        selector: selectorOf(first),
      });
  }
  return findings;
}

/** @param {Element} form @param {Index} index @returns {Finding[]} */
function checkForm(form, index) {
  /** @type {Finding[]} */
  const findings = [];
  const selector = selectorOf(form);
  const inside = [...elementsOf(form)].filter((element) => !isHidden(element));
  const fields = inside.filter(isField);
  if (fields.length === 0) return [];
  const submits = inside.filter((each) =>
    each.tag === "button"
      ? (attribute(each, "type") ?? "submit").toLowerCase() === "submit"
      : ["submit", "image"].includes(typeOf(each)),
  );
  if (submits.length === 0 && fields.some((field) => typeOf(field) !== "search"))
    findings.push({ severity: "warn", rule: "submit", message: "The form has no submit button.", selector });
  for (const button of submits) {
    const { name } = nameOf(button, index);
    if (name === "")
      findings.push({
        severity: "fail",
        rule: "submit",
        message: "The submit button has no name.",
        selector: selectorOf(button),
      });
    else if (/^(submit|send|ok|go)$/i.test(name))
      findings.push({
        severity: "warn",
        rule: "submit",
        message: `The button "${name}" does not say what happens.`,
        selector: selectorOf(button),
      });
    if (button.attributes.has("disabled"))
      findings.push({
        severity: "warn",
        rule: "disabled-submit",
        message: "The submit button is disabled; people are not told what is missing.",
        selector: selectorOf(button),
      });
  }
  const marked = fields.filter((field) => /\*/.test(nameOf(field, index).name));
  const explains =
    /\*\s*(=|:|are|is|indicates|marks|denotes)?\s*(required|mandatory|pflicht)|(required|mandatory)[^.]{0,40}\*/i;
  if (marked.length > 0 && !explains.test(textOf(form)))
    findings.push({
      severity: "warn",
      rule: "required-mark",
      message: "Fields are marked with *, and the form does not say what it means.",
      selector,
    });
  const required = fields.filter(isRequired);
  const unmarked = required.filter((field) => !/\*|required|mandatory/i.test(nameOf(field, index).name));
  if (unmarked.length > 0 && required.length < fields.length)
    findings.push({
      severity: "warn",
      rule: "required-mark",
      message: `${unmarked.length} of ${required.length} required fields have no visible mark.`,
      selector,
      excerpt: unmarked
        .map((field) => nameOf(field, index).name)
        .join(", ")
        .slice(0, 120),
    });
  return findings;
}

const ERROR_CLASS =
  /(^|[\s_-])(error|invalid-feedback|field-error|form-error|help-block--error|errormessage)([\s_-]|$)/i;

/**
 * Checks that every error message says what to do, and that it is tied to its field, for example by `aria-describedby`,
 * or is in a live region. Also reports invalid fields without a message, and references to elements that do not exist.
 * @param {Index} index
 * @returns {Finding[]}
 */
function checkErrors({ all, byId }) {
  /** @type {Finding[]} */
  const findings = [];
  const described = new Set(
    all.flatMap((each) =>
      ["aria-describedby", "aria-errormessage"].flatMap((name) =>
        (attribute(each, name) ?? "").split(/\s+/).filter(Boolean),
      ),
    ),
  );
  for (const element of all) {
    for (const name of ["aria-describedby", "aria-errormessage"])
      for (const id of (attribute(element, name) ?? "").split(/\s+/).filter(Boolean))
        if (!byId.has(id))
          findings.push({
            severity: "fail",
            rule: "broken-reference",
            message: `${name}="${id}" names an element that does not exist.`,
            selector: selectorOf(element),
          });
    if (
      isField(element) &&
      attribute(element, "aria-invalid") === "true" &&
      !attribute(element, "aria-describedby") &&
      !attribute(element, "aria-errormessage")
    )
      findings.push({
        severity: "fail",
        rule: "error-association",
        message: "The field is invalid, and no message is tied to it (aria-describedby).",
        selector: selectorOf(element),
      });
    const text =
      ERROR_CLASS.test(attribute(element, "class") ?? "") && !isHidden(element) ? textOf(element) : "";
    if (text === "" || findAll(element, isField).length > 0) continue;
    const isTied = described.has(attribute(element, "id") ?? "");
    const isLive = isLiveRegion(element) || closest(element, isLiveRegion) !== undefined;
    if (!isTied && !isLive)
      findings.push({
        severity: "fail",
        rule: "error-association",
        message: `The message "${text.slice(0, 80)}" is neither tied to a field nor announced.`,
        selector: selectorOf(element),
      });
    if (
      /^(error|invalid( (input|value))?|required( field)?|wrong|please correct the errors?)[.!]?$/i.test(text)
    )
      findings.push({
        severity: "warn",
        rule: "error-text",
        message: `The message "${text}" does not say what to do.`,
        selector: selectorOf(element),
      });
  }
  return findings;
}

/** @param {Element} element */
const isLiveRegion = (element) => {
  const live = attribute(element, "aria-live");
  return live ? live !== "off" : ["alert", "status", "log"].includes(attribute(element, "role") ?? "");
};

/** @param {Element[]} fields @returns {Finding[]} */
const checkNames = (fields) =>
  fields
    .filter((field) => !attribute(field, "name") && closest(field, ({ tag }) => tag === "form") !== undefined)
    .map((field) => ({
      severity: "warn",
      rule: "no-name",
      message: "The field has no name: it is not sent without scripts.",
      selector: selectorOf(field),
    }));

if (values.help) console.log(HELP);
else if (positionals.length !== 1) refuse(HELP);
else checkPage(positionals[0] ?? "");
