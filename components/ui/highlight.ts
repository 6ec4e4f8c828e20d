import bash from "@speed-highlight/core/languages/bash.js";
import css from "@speed-highlight/core/languages/css.js";
import html from "@speed-highlight/core/languages/html.js";
import js from "@speed-highlight/core/languages/js.js";
import json from "@speed-highlight/core/languages/json.js";
import py from "@speed-highlight/core/languages/py.js";
import ts from "@speed-highlight/core/languages/ts.js";
import xml from "@speed-highlight/core/languages/xml.js";
import yaml from "@speed-highlight/core/languages/yaml.js";
import { type ShjLanguageData, tokenizeWith } from "@speed-highlight/core/tokenize";

/** A piece of code. `color` is its class; undefined for plain text. */
export type CodeToken = { text: string; color: string | undefined };

/** A longer code keeps its plain color, because coloring would block the page. */
const CHARACTERS_MAX = 20_000;

// The cast holds because the library tokenizes with these modules itself. Their types do not fit under
// `exactOptionalPropertyTypes`.
const LANGUAGES = { bash, css, html, js, json, py, ts, xml, yaml } as unknown as Record<
  string,
  ShjLanguageData
>;
const ALIASES: Record<string, string> = {
  javascript: "js",
  jsx: "js",
  mjs: "js",
  typescript: "ts",
  tsx: "ts",
  python: "py",
  sh: "bash",
  shell: "bash",
  zsh: "bash",
  console: "bash",
  htm: "html",
  svg: "xml",
  yml: "yaml",
  jsonc: "json",
  json5: "json",
};

/** Colors of the kinds of tokens. All have a contrast of 4.5:1 on the background of code, in both themes. */
const COLORS: Record<string, string> = {
  cmnt: "text-faint",
  str: "text-good",
  num: "text-accent-strong",
  bool: "text-accent-strong",
  kwd: "text-accent-strong",
  func: "text-ink",
  class: "text-ink",
  var: "text-ink",
  insert: "text-good",
  deleted: "text-bad",
  err: "text-bad",
};

/** Splits code into pieces with colors. Undefined for an unknown language and for long code. */
export function highlight(text: string, language: string): CodeToken[] | undefined {
  const name = language.toLowerCase();
  const known = LANGUAGES[ALIASES[name] ?? name];
  if (!known || text.length > CHARACTERS_MAX) return undefined;
  const tokens: CodeToken[] = [];
  const add = (part: string, kind?: string) =>
    tokens.push({ text: part, color: kind === undefined ? undefined : COLORS[kind] });
  tokenizeWith(text, known, add, { languages: LANGUAGES });
  return tokens;
}
