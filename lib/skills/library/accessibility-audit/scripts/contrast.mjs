#!/usr/bin/env node
import { groupFindings, printReport, readArguments, readText, refuse } from "./lib/command.mjs";

/** @typedef {[red: number, green: number, blue: number]} Color */
/** @typedef {import("./lib/command.mjs").Finding} Finding */
/**
 * One text with its styles, as saved by references/collect-text-styles.js.
 * @typedef {{ selector: string, text: string, color: number[], backgrounds: number[][], sizePx: number, weight: number, hasImage: boolean }} Sample
 */

const HELP = `Usage: contrast.mjs <styles.json>
       contrast.mjs --text <#rrggbb> --background <#rrggbb> [--size <px>] [--bold]

Computes contrast ratios by WCAG 2.2 (1.4.3). The first form reads what references/collect-text-styles.js has saved; the
second compares two colors. Text needs 4.5:1, large text (24 px, or 18.66 px bold) 3:1. A failing pair comes with the
nearest text color that passes. Text over a picture cannot be computed and is a warning.

Exit code: 0 everything passes, 1 something fails, 2 wrong use or a file that cannot be read.`;

const { values, positionals } = readArguments(HELP, {
  help: { type: "boolean" },
  text: { type: "string" },
  background: { type: "string" },
  size: { type: "string", default: "16" },
  bold: { type: "boolean", default: false },
});
const size = Number(values.size);

/** @param {string} text @returns {Color} */
function readHex(text) {
  const short = /^#?([0-9a-f])([0-9a-f])([0-9a-f])$/i
    .exec(text)
    ?.slice(1)
    .map((digit) => digit + digit);
  const parts = short ?? /^#?([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(text)?.slice(1);
  if (!parts) return refuse(`${text} is not a color such as #1a2b3c`);
  return toColor(parts.map((part) => Number.parseInt(part, 16)));
}

/** @param {readonly number[]} parts @returns {Color} */
function toColor([red = 0, green = 0, blue = 0]) {
  return [red, green, blue];
}

/** Computes the relative luminance of a color. @param {Color} color */
const luminanceOf = (color) => {
  const [red = 0, green = 0, blue = 0] = color.map((part) => {
    const value = part / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};

/** @param {Color} one @param {Color} other */
function ratioOf(one, other) {
  const [light = 0, dark = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

/** @param {readonly number[]} over `[red, green, blue, alpha]` @param {Color} under @returns {Color} */
function blend(over, under) {
  const alpha = over[3] ?? 1;
  return toColor(under.map((part, index) => (over[index] ?? 0) * alpha + part * (1 - alpha)));
}

/** @param {Color} color */
const toHex = (color) => `#${color.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`;

/** @param {number} sizePx @param {boolean} isBold */
const neededFor = (sizePx, isBold) => (sizePx >= 24 || (isBold && sizePx >= 18.66) ? 3 : 4.5);

/**
 * Moves the text color towards black and towards white in steps of 1 %, and returns the first color that passes.
 * Returns undefined if no color passes.
 * @param {Color} text @param {Color} background @param {number} needed
 */
function suggest(text, background, needed) {
  for (let step = 1; step <= 100; step++)
    for (const target of /** @type {Color[]} */ ([
      [0, 0, 0],
      [255, 255, 255],
    ])) {
      const tried = toColor(blend([...target, step / 100], text).map(Math.round));
      if (ratioOf(tried, background) >= needed) return toHex(tried);
    }
  return undefined;
}

/**
 * Truncates instead of rounding, because a ratio of 4.499 does not pass and must not be shown as 4.5.
 * @param {number} ratio
 */
const show = (ratio) => Math.floor(ratio * 100) / 100;

/** @param {Color} text @param {Color} background */
function comparePair(text, background) {
  const needed = neededFor(size, values.bold);
  const ratio = ratioOf(text, background);
  const passes = ratio >= needed;
  const suggestion = passes ? undefined : suggest(text, background, needed);
  console.log(
    JSON.stringify({
      text: toHex(text),
      background: toHex(background),
      ratio: show(ratio),
      needed,
      passes,
      suggestion,
    }),
  );
  process.exitCode = passes ? 0 : 1;
}

/** @param {string} path */
function checkFile(path) {
  /** @type {{ url?: string, samples?: Sample[] }} */
  let document;
  try {
    document = JSON.parse(readText(path));
  } catch {
    return refuse(`${path} is not JSON; save it with references/collect-text-styles.js`);
  }
  if (!Array.isArray(document?.samples))
    return refuse(`${path} has no samples; save it with references/collect-text-styles.js`);
  const wrong = document.samples.findIndex((sample) => !isSample(sample));
  if (wrong >= 0)
    return refuse(`${path}: samples[${wrong}] is not as references/collect-text-styles.js saves it`);
  /** @type {Map<string, Finding>} */
  const findings = new Map();
  for (const sample of document.samples) {
    const { finding, key } = compareColors(sample);
    if (finding && !findings.has(key)) findings.set(key, finding);
  }
  const list = [...findings.values()];
  printReport({ page: document.url, texts: document.samples.length, findings: groupFindings(list) }, list);
}

/** @param {unknown} value */
const isColor = (value) =>
  Array.isArray(value) && value.length === 4 && value.every((part) => Number.isFinite(part));

/** @param {Partial<Record<string, unknown>> | null | undefined} sample */
const isSample = (sample) =>
  typeof sample?.selector === "string" &&
  typeof sample.text === "string" &&
  isColor(sample.color) &&
  Array.isArray(sample.backgrounds) &&
  sample.backgrounds.every(isColor) &&
  Number.isFinite(sample.sizePx) &&
  Number.isFinite(sample.weight);

/**
 * Judges one text. Texts with the same colors and the same required ratio get the same key and count as one finding.
 * For text over a picture or gradient, each element has its own key, and is a finding of its own.
 * @param {Sample} sample @returns {{ key: string, finding?: Finding }}
 */
function compareColors({ selector, text, color, backgrounds, sizePx, weight, hasImage }) {
  // `backgrounds` begins with the innermost background. Behind all backgrounds is the white canvas of the browser.
  let background = toColor([255, 255, 255]);
  for (const over of [...backgrounds].reverse()) background = blend(over, background);
  const shown = blend(color, background);
  const ratio = ratioOf(shown, background);
  const needed = neededFor(sizePx, weight >= 700);
  const key = [toHex(shown), toHex(background), needed, hasImage].join(" ");
  const place = { selector, excerpt: text.slice(0, 80) };
  if (hasImage)
    return {
      key: `${key} ${selector}`,
      finding: {
        severity: "warn",
        rule: "over-picture",
        message: "Text over a picture or gradient: look at it.",
        ...place,
      },
    };
  if (ratio >= needed) return { key };
  const better = suggest(shown, background, needed);
  const message = `${toHex(shown)} on ${toHex(background)} is ${show(ratio)}:1, needed ${needed}:1 at ${Math.round(sizePx * 10) / 10} px${weight >= 700 ? " bold" : ""}${better ? `; ${better} passes` : ""}.`;
  return { key, finding: { severity: "fail", rule: "contrast", message, ...place } };
}

if (values.help) console.log(HELP);
else if (!(size > 0)) refuse(`--size ${values.size} is not a number of pixels`);
else if (values.text !== undefined && values.background !== undefined && positionals.length === 0)
  comparePair(readHex(values.text), readHex(values.background));
else if (positionals.length === 1 && values.text === undefined) checkFile(positionals[0] ?? "");
else refuse(HELP);
