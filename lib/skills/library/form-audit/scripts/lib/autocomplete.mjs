// The autocomplete values of the HTML standard, and rules that guess the right value for a field.

const NAMES = new Set(
  "name honorific-prefix given-name additional-name family-name honorific-suffix nickname username new-password current-password one-time-code organization-title organization street-address address-line1 address-line2 address-line3 address-level4 address-level3 address-level2 address-level1 country country-name postal-code cc-name cc-given-name cc-additional-name cc-family-name cc-number cc-exp cc-exp-month cc-exp-year cc-csc cc-type transaction-currency transaction-amount language bday bday-day bday-month bday-year sex url photo".split(
    " ",
  ),
);
const CONTACTS = new Set(
  "tel tel-country-code tel-national tel-area-code tel-local tel-local-prefix tel-local-suffix tel-extension email impp".split(
    " ",
  ),
);

/**
 * Whether a value follows the grammar of the HTML standard. A value consists of these words, in this order: section,
 * shipping or billing, kind of contact (such as work), name of the field, webauthn. Only the name is required.
 * @param {string} value
 */
export function isValidAutocomplete(value) {
  const tokens = value.toLowerCase().split(/\s+/).filter(Boolean);
  if (tokens.at(-1) === "webauthn") tokens.pop();
  const last = tokens.pop();
  if (last === undefined) return false;
  if (CONTACTS.has(last)) {
    if (["home", "work", "mobile", "fax", "pager"].includes(tokens.at(-1) ?? "")) tokens.pop();
  } else if (!NAMES.has(last)) return false;
  if (["shipping", "billing"].includes(tokens.at(-1) ?? "")) tokens.pop();
  if (tokens.at(-1)?.startsWith("section-")) tokens.pop();
  return tokens.length === 0;
}

/**
 * @typedef {{ token: string, what: string, type?: string, isDigits?: boolean, isPersonal: boolean }} Expected
 */
/** The first rule that matches is used, so special rules come before general ones. @type {[RegExp, Expected][]} */
const RULES = [
  [
    /one.?time|\botp\b|verification.?code|2fa/i,
    { token: "one-time-code", what: "a code", isDigits: true, isPersonal: true },
  ],
  [
    /new.?password|create.?(a.?)?password|(confirm|repeat|choose).{0,8}password/i,
    { token: "new-password", what: "a password", type: "password", isPersonal: true },
  ],
  [/password/i, { token: "current-password", what: "a password", type: "password", isPersonal: true }],
  [
    /\b(cvc|cvv|csc)\d?\b|security.?code/i,
    { token: "cc-csc", what: "a security code", isDigits: true, isPersonal: true },
  ],
  [
    /card.?(number|no\b)|cc.?num/i,
    { token: "cc-number", what: "a card number", isDigits: true, isPersonal: true },
  ],
  [/name.on.(the.)?card|card.?holder/i, { token: "cc-name", what: "a name", isPersonal: true }],
  [/expir(y|ation)|mm.?\/.?yy/i, { token: "cc-exp", what: "an expiry date", isPersonal: true }],
  [/e-?mail/i, { token: "email", what: "an e-mail address", type: "email", isPersonal: true }],
  [
    /\b(tele)?phone\b|\btel\b|mobile.?(number|phone)?\b/i,
    { token: "tel", what: "a phone number", type: "tel", isPersonal: true },
  ],
  [
    /\b(zip|post(al)?.?code|postcode|plz)\b/i,
    { token: "postal-code", what: "a postal code", isPersonal: true },
  ],
  [/\b(first|given).?name|\bfname\b/i, { token: "given-name", what: "a name", isPersonal: true }],
  [/\b(last|family).?name|surname|\blname\b/i, { token: "family-name", what: "a name", isPersonal: true }],
  [/\buser.?name\b|login.?name/i, { token: "username", what: "a user name", isPersonal: true }],
  [
    /address.?(line)?.?2|apartment|\bsuite\b/i,
    { token: "address-line2", what: "an address", isPersonal: true },
  ],
  [
    /street|address.?(line)?.?1|^\s*address\b/i,
    { token: "address-line1", what: "an address", isPersonal: true },
  ],
  [/\b(city|town)\b/i, { token: "address-level2", what: "a town", isPersonal: true }],
  [/\bcountry\b/i, { token: "country-name", what: "a country", isPersonal: true }],
  [/\bcompany\b|organi[sz]ation/i, { token: "organization", what: "a company", isPersonal: true }],
  [/birth.?(date|day)|date.of.birth|\bdob\b/i, { token: "bday", what: "a date of birth", isPersonal: true }],
  [/\bfull.?name\b|your.name|^\s*name\b/i, { token: "name", what: "a name", isPersonal: true }],
  [
    /\bwebsite\b|homepage|\burl\b/i,
    { token: "url", what: "an address of the web", type: "url", isPersonal: false },
  ],
];

const FREE_TYPES = new Set([
  "text",
  "email",
  "tel",
  "url",
  "number",
  "password",
  "date",
  "select",
  "textarea",
]);

/**
 * Guesses what a field asks for. `words` is the field's label, placeholder, name and id.
 * @param {string} words @param {string} type @returns {Expected | undefined}
 */
export function expectedToken(words, type) {
  if (!FREE_TYPES.has(type)) return undefined;
  const spaced = words.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/[_\-[\]]+/g, " ");
  const [, expected] = RULES.find(([pattern]) => pattern.test(spaced)) ?? [];
  return expected;
}
