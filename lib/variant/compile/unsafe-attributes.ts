/** Attributes whose value is a URL that the browser may load or open. */
const URL_ATTRIBUTES = new Set([
  "action",
  "background",
  "cite",
  "data",
  "formaction",
  "href",
  "longdesc",
  "manifest",
  "ping",
  "poster",
  "src",
  "xlink:href",
]);

/** Attributes of SVG animation elements. The animation writes their values to another attribute, such as `href`. */
const ANIMATION_ATTRIBUTES = new Set(["by", "from", "to", "values"]);
const ANIMATIONS = new Set(["animate", "animatemotion", "animatetransform", "set"]);

const SCRIPT_URL =
  /^(?:javascript|vbscript):|^data:(?:text\/html|application\/xhtml\+xml|text\/xml|application\/xml)/;

/** Whether a URL contains a script or a whole page. Browsers ignore case, tabs, line breaks and leading spaces. */
function isScriptUrl(url: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that the URL standard removes.
  return SCRIPT_URL.test(url.replace(/^[\u0000-\u0020]+|[\t\n\r]/g, "").toLowerCase());
}

/**
 * Returns why an attribute must not be set, or undefined if it may be set.
 *
 * @param tag name of the element, if it is known
 */
export function findAttributeProblem(name: string, value: string, tag?: string): string | undefined {
  const lower = name.toLowerCase();
  if (lower.startsWith("on"))
    return `the event handler attribute ${name} is not allowed; add a listener in the page's js instead`;
  if (lower === "srcdoc") return "the attribute srcdoc is not allowed, as it is a page inside the page";
  if (lower === "__proto__") return "the attribute __proto__ is not allowed";
  const isAnimation =
    tag !== undefined && ANIMATIONS.has(tag.toLowerCase()) && ANIMATION_ATTRIBUTES.has(lower);
  if (!isAnimation && !URL_ATTRIBUTES.has(lower)) return undefined;
  const urls = isAnimation ? value.split(";") : [value];
  if (!urls.some(isScriptUrl)) return undefined;
  return `the attribute ${name} must not hold a javascript: URL or an HTML page as a data: URL`;
}
