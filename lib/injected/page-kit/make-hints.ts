import type { PageElement } from "#lib/dom/make-dom.ts";
import { dom } from "../dom.ts";
import { knownIcon } from "./known-icons.ts";
import { pseudoText } from "./pseudo-text.ts";
import { quote } from "./quote.ts";

/** Prefixes of the class names with which icon fonts and icon libraries name an icon. */
const ICON_CLASS =
  /(?:^|[\s_-])(?:icon|fa|bi|ti|mdi|lucide|ph|glyphicon|octicon|anticon|ri|feather|la|pi|bx|codicon|dashicons|ion)[-_]([a-z][a-z-]+)/g;
/** Parts of such class names that say how an icon looks, not what it shows. */
const ICON_STYLE =
  /^(solid|regular|light|thin|duotone|brands|sharp|fw|lg|sm|xs|xl|xxl|spin|pulse|border|inverse|icon|icons|root|wrapper|svg|btn|button|only|[sm]d)$/;
/** Class names that say something about the layout only, and generated ones. */
const MEANINGLESS_CLASS =
  /^(-|!)?(css|sc|jss|svelte|ng|_ng\w*|w|h|min|max|size|m[trblxyse]?|p[trblxyse]?|d|col|row|flex|grid|inline|block|hidden|shrink|grow|absolute|relative|fixed|sticky|static|top|left|right|bottom|start|end|inset|z|rounded|border|shadow|transition|duration|ease|opacity|align|self|justify|items|content|gap|space|overflow|cursor|select|pointer|dark|hover|focus|group|sr|not|float|font|leading|tracking|text-(?:xs|sm|base|lg|xl|\dxl|left|center|right)|btn|button|input|field|control|form-control|icon|svg|fill|stroke)(-|:|$)|^Mui|[0-9a-f]{6,}|\d{4,}|:|^.$/i;
const TEST_ATTRIBUTES = ["data-testid", "data-test-id", "data-test", "data-qa", "data-cy"];

/** Words of a class attribute that may say what an element is for. At most two. */
function meaningfulClasses(element: PageElement): string {
  const classes = (dom.getAttribute(element, "class") ?? "").slice(0, 500).split(/\s+/).filter(Boolean);
  return classes
    .filter((name) => !MEANINGLESS_CLASS.test(name))
    .slice(0, 2)
    .join(" ");
}

/** The file name of a picture, without its ending. */
const nameOfFile = (url: string | undefined): string | undefined =>
  url?.startsWith("data:") ? undefined : /([\w-]+)\.\w+(?:[?#]|$)/.exec(url ?? "")?.[1];

/** The file name of the picture that a style draws. */
function nameOfStyleImage(style: CSSStyleDeclaration): string | undefined {
  const images = [style.backgroundImage, style.maskImage, style.listStyleImage, style.content];
  return nameOfFile(
    images.map((each) => /^url\("?([^")]+)/.exec(each ?? "")?.[1]).find((url) => url !== undefined),
  );
}

function iconWord(part: PageElement): string | undefined {
  const attribute = (name: string) => dom.getAttribute(part, name) || undefined;
  const isIconTag = /icon/.test(dom.localName(part));
  const marked = attribute("data-icon") ?? attribute("data-lucide") ?? attribute("data-feather");
  const tagged = isIconTag ? (attribute("name") ?? attribute("icon") ?? attribute("svgicon")) : undefined;
  const used = /#([\w-]+)$/.exec(attribute("href") ?? attribute("xlink:href") ?? "")?.[1];
  const tested = /^([A-Z]\w*)Icon$/.exec(attribute("data-testid") ?? "")?.[1];
  const classes = [...(attribute("class") ?? "").slice(0, 500).matchAll(ICON_CLASS)].map(([, word]) => word);
  const fromClass = classes.find((word) => word !== undefined && !ICON_STYLE.test(word));
  const file = nameOfFile(attribute("src")) ?? nameOfStyleImage(dom.computedStyle(part));
  return [marked, tagged, used, tested, fromClass, file].find((word) => word !== undefined);
}

/**
 * Guesses from attributes, class names and file names what an icon shows, and returns a text such as ` icon "trash"`.
 * The text is empty if there is no hint.
 */
export function iconOf(element: PageElement): string {
  const parts = [element, ...dom.querySelectorAll(element, "svg, use, img, i, span")].slice(0, 6);
  for (const part of parts) {
    const word = iconWord(part);
    if (word !== undefined) return ` icon ${quote(word, 40)}`;
  }
  return "";
}

/** The shapes of icons that nothing names, with their numbers, which stay the same in a document. */
const shapes = new Map<string, number>();
const SHAPES_MAX = 200;

const drawnPartsOf = (icon: PageElement) =>
  dom.querySelectorAll(icon, "path, polyline, polygon, line, circle, rect").slice(0, 20);

/** A number for the shape of an svg. The same shape gets the same number. Empty if there are too many shapes. */
function shapeOf(icon: PageElement): string {
  const key = drawnPartsOf(icon)
    .map((part) =>
      ["d", "points", "x1", "y1", "cx", "r"].map((name) => dom.getAttribute(part, name) ?? "").join(),
    )
    .join(";")
    .slice(0, 2_000);
  if (key === "" || (!shapes.has(key) && shapes.size >= SHAPES_MAX)) return "";
  const number = shapes.get(key) ?? shapes.size + 1;
  shapes.set(key, number);
  return ` icon shape ${number}`;
}

/**
 * Like {@link iconOf}, for one element that is an icon. If nothing names it, its shape does if it is a known one,
 * otherwise its class or the number of its shape.
 */
export function iconOrClassOf(icon: PageElement): string {
  const named = iconOf(icon);
  if (named) return named;
  const known = knownIcon(
    drawnPartsOf(icon)
      .map((part) => dom.getAttribute(part, "d") ?? "")
      .join(" "),
  );
  const word = known ?? meaningfulClasses(icon);
  return word ? ` icon ${quote(word, 40)}` : shapeOf(icon);
}

/**
 * What a control without a name and icon may be for, as the page's authors call it: its test id, the name of its field,
 * its id or its class, as in ` class "cart-toggle"`. Empty if none of them says something.
 */
export function hintOf(element: PageElement): string {
  const testId = TEST_ATTRIBUTES.map((name) => dom.getAttribute(element, name)).find(Boolean);
  if (testId) return ` test id ${quote(testId, 40)}`;
  const field = dom.matches(element, "input, select, textarea") ? dom.getAttribute(element, "name") : null;
  if (field) return ` field ${quote(field, 40)}`;
  const classes = meaningfulClasses(element);
  if (classes) return ` class ${quote(classes, 40)}`;
  const id = dom.id(element);
  return id && !/\d{4,}|[:.«»]|^[a-z]{0,3}-?\d+$|[0-9a-f]{8,}/i.test(id) ? ` id ${quote(id, 40)}` : "";
}

/**
 * What a style sheet draws before a list item: a text such as `✓`, or an icon such as `icon "check"`. A class of the
 * item names an icon that has no other name.
 */
export function markerOf(item: PageElement): { text: string; icon: string } {
  const before = dom.computedStyle(item, "::before");
  const text = pseudoText(item, "::before").trim();
  if (text) return { text, icon: "" };
  const file = nameOfStyleImage(before) ?? nameOfStyleImage(dom.computedStyle(item));
  const isDrawn = before.content.length > 2 && before.content !== "none" && before.content !== "normal";
  const word = file ?? (isDrawn ? meaningfulClasses(item) : "");
  return { text: "", icon: word ? `icon ${quote(word, 40)}` : "" };
}
