import type { PortableElement } from "../portable/html.ts";

/** Elements that posthog-js does not remove. The list has only the elements that the tests cover. */
const TAGS = new Set(
  `a abbr article aside b blockquote br button caption code col colgroup dd del details dfn div dl dt em
  fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr i img input ins kbd label legend li main mark
  nav ol optgroup option p pre q s samp section select small span strong sub summary sup table tbody td tfoot th
  thead time tr u ul var svg g path circle ellipse rect line polyline polygon`.split(/\s+/),
);

const ATTRIBUTES = new Set(
  `alt checked class cite colspan cx cy d datetime dir disabled fill fill-rule for height href id label lang loading
  max maxlength method min minlength multiple name open pattern placeholder points r readonly required role rowspan
  rx ry selected size src start step stroke stroke-linecap stroke-linejoin stroke-width style tabindex title
  transform type value viewbox width x x1 x2 y y1 y2`.split(/\s+/),
);

/** Attributes whose values posthog-js does not check as URLs. */
const PLAIN_ATTRIBUTES = new Set(
  "alt class for id label name pattern placeholder role style title value".split(" "),
);

/** Matches values that have no protocol, or a protocol that posthog-js allows. */
const ADDRESS = /^(?:https?:|mailto:|tel:|[^:]*$|[/#?.])/i;

/**
 * Whether posthog-js keeps an attribute. posthog-js removes ids and names that could equal a property of a document or
 * form.
 */
function isKept(tag: string, name: string, value: string): boolean {
  if (/[<>]/.test(value)) return false;
  if (/^(?:data|aria)-[a-z0-9-]+$/.test(name)) return true;
  if (tag === "a" && name === "target") return value === "_blank";
  if (name === "for" && tag !== "label") return false;
  if (name === "id" || name === "name") return /^[\w-]*[-\d][\w-]*$/.test(value);
  return ATTRIBUTES.has(name) && (PLAIN_ATTRIBUTES.has(name) || ADDRESS.test(value));
}

/** Names the first part of the HTML that posthog-js would remove. Undefined if posthog-js would remove nothing. */
export function findSanitizedPart(elements: readonly PortableElement[]): string | undefined {
  for (const { tag, attributes } of elements) {
    if (!TAGS.has(tag)) return `the element ${tag}`;
    const name = [...attributes.keys()].find((each) => !isKept(tag, each, attributes.get(each) ?? ""));
    if (name !== undefined) return `the attribute ${name} of ${tag}`;
    // posthog-js sets `rel` itself on each link that opens a window.
    if (attributes.has("target") && attributes.get("rel") !== undefined) return "the attribute rel of a";
  }
  return undefined;
}
