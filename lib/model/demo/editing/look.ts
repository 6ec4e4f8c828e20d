import { readableTextOn, readColor } from "./colors.ts";

/** The look that a task asks for. */
export type Look = {
  /** A color that the task assigns neither to the text nor to the background. */
  color?: string;
  textColor?: string;
  background?: string;
  /** CSS properties that do not depend on the kind of element. */
  styles: Record<string, string>;
};

/** The property of an element that a phrase names, as in `the button's background`. */
export type Aspect = "text" | "color" | "background" | "size";

// Sizes are changed by `zoom`, which scales an element's own size. A relative `font-size` depends on the parent's size.
const WORD_STYLES: [RegExp, Record<string, string>][] = [
  [/^(?:bold|bolder)$/, { "font-weight": "bold" }],
  [/^(?:italic|italics|slanted)$/, { "font-style": "italic" }],
  [/^underlined?$/, { "text-decoration": "underline" }],
  [/^(?:bigger|larger|big|large)$/, { zoom: "1.25" }],
  [/^(?:huge|twice as (?:big|large)|double the size)$/, { zoom: "2" }],
  [/^(?:smaller|small)$/, { zoom: "0.8" }],
  [/^(?:upper ?case|all caps|caps|capitals)$/, { "text-transform": "uppercase" }],
  [/^lower ?case$/, { "text-transform": "lowercase" }],
  [/^(?:cent(?:er|re)e?d|cent(?:er|re)|cent(?:er|re)[- ]aligned)$/, { "text-align": "center" }],
  [/^right[- ]aligned$/, { "text-align": "right" }],
  [/^left[- ]aligned$/, { "text-align": "left" }],
  [/^(?:round|rounded|rounder)$/, { "border-radius": "999px" }],
];
const FILLERS =
  /\b(?:an?|in|the|more|much|very|bit|little|slightly|be|to|look|appear|colou?red|colou?r|size)\b/g;
const LENGTH = /^\d{1,3}(?:\.\d{1,2})?(?:px|em|rem|pt|%)$/;
const LOOK_CHARACTERS_MAX = 120;

/** Reads a look such as `bigger and bold`, `white on #0a7` or `a yellow background`; undefined if a part is unknown. */
export function readLook(words: string): Look | undefined {
  if (words.length > LOOK_CHARACTERS_MAX) return undefined;
  const look: Look = { styles: {} };
  const pieces = words.toLowerCase().split(/\s*,\s*(?:and\s+)?|\s+and\s+|\s+with\s+/);
  for (const piece of pieces) if (!addPiece(look, piece)) return undefined;
  return look;
}

/** Adds a piece to the look. @returns whether the rules know the piece. */
function addPiece(look: Look, words: string): boolean {
  const piece = words.replace(FILLERS, " ").replace(/\s+/g, " ").trim();
  const style = WORD_STYLES.find(([pattern]) => pattern.test(piece))?.[1];
  if (style) Object.assign(look.styles, style);
  else if (LENGTH.test(piece)) look.styles["font-size"] = piece;
  else return addColor(look, piece);
  return true;
}

function addColor(look: Look, piece: string): boolean {
  const [, over, under] = /^(.+) on (.+)$/.exec(piece) ?? [];
  const textColor = readColor((over ?? "").replace(/ text$/, ""));
  const background = readColor((under ?? "").replace(/ background$/, ""));
  if (textColor && background) {
    look.textColor = textColor;
    look.background = background;
    return true;
  }
  const [, colorWords = "", part] = /^(.+?)(?: (text|font|letters|lettering|background))?$/.exec(piece) ?? [];
  const color = readColor(colorWords);
  if (color === undefined) return false;
  if (part === "background") look.background = color;
  else if (part !== undefined) look.textColor = color;
  else look.color = color;
  return true;
}

/**
 * Returns the CSS properties of a look. `look.color` applies to the background of an area, such as a button, and to the
 * text of other elements. The aspect `text` or `background` overrides this choice. If only the background is set, the
 * text becomes black or white, so that it remains readable.
 */
export function styleOf(look: Look, isArea: boolean, aspect: Aspect | undefined): Record<string, string> {
  const { color, styles } = look;
  const fills = aspect === "background" || (isArea && aspect !== "text");
  const background = look.background ?? (fills ? color : undefined);
  const textColor =
    look.textColor ?? (fills ? undefined : color) ?? (background ? readableTextOn(background) : undefined);
  return {
    ...(background ? { background } : {}),
    ...(textColor ? { color: textColor } : {}),
    ...styles,
  };
}
