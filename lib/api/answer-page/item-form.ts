import type { FormField } from "#db/schema/index.ts";
import { type FormValues, listChoices, startValues } from "#lib/page/state/form-values.ts";
import { type InboxItemRow, titleOf } from "#lib/session/store/inbox-store.ts";
import { type Html, html } from "./answer-html.ts";
import { FIELD_PREFIX, REASON_MAX, readValues, TEXT_MAX } from "./read-answer.ts";

/** What a person has sent, and what is wrong with it. */
export type Sent = { values: URLSearchParams; problems: Record<string, string> };

type Item = Pick<
  InboxItemRow,
  | "kind"
  | "agentName"
  | "title"
  | "body"
  | "options"
  | "form"
  | "call"
  | "sessionId"
  | "rootSessionId"
  | "expiresAt"
>;

/** Composes the content of the page of an open item: what it asks, and the form that settles it. */
export function itemForm(item: Item, sent?: Sent): { title: string; body: Html } {
  const problems = sent?.problems ?? {};
  const count = Object.keys(problems).length;
  const body = html`${
    count > 0 &&
    html`<div class="alert" role="alert"><strong>Nothing was sent.</strong> ${problems[""] ?? "Correct the marked field."}</div>`
  }<h1 dir="auto">${titleOf(item)}</h1>
${FORMS[item.kind]?.(item, sent)}
${
  item.expiresAt !== null &&
  html`<p class="soft">Open until <time datetime="${item.expiresAt.toISOString()}">${formatInstant(item.expiresAt)}</time>.</p>`
}`;
  return { title: `${count > 0 ? "Correct: " : ""}${titleOf(item)}`, body };
}

const formatInstant = (at: Date): string => `${at.toISOString().slice(0, 16).replace("T", " ")} UTC`;

const FORMS: Partial<Record<Item["kind"], (item: Item, sent: Sent | undefined) => Html>> = {
  question: (
    item,
    sent,
  ) => html`${item.body !== item.title && html`<p class="text" dir="auto">${item.body}</p>`}
<form method="post" novalidate>
${item.form ? fieldsOf(item.form, sent) : textFields(item, sent)}
<div class="buttons"><button class="main" name="do" value="answer">Send answer</button><button name="do" value="decline">Decline to answer</button></div>
</form>`,
  // Two forms, so that Enter in the field of the reason denies the call.
  approval: (
    { agentName, call },
    sent,
  ) => html`<p>${agentName === null ? "The agent" : html`The sub-agent <bdi>${agentName}</bdi>`} wants to call <code>${call?.toolName}</code> with exactly these arguments:</p>
<pre tabindex="0" role="region" aria-label="Arguments">${call && showArguments(call.input)}</pre>
<form method="post" novalidate><div class="buttons"><button class="main" name="do" value="approve">Approve this call</button></div></form>
<form method="post" novalidate>
${field({ id: "reason", label: "Reason to deny it", isOptional: true, hint: "The agent reads it.", problem: sent?.problems.reason }, (shared) => html`<input ${shared} name="reason" maxlength="${REASON_MAX}" value="${sent?.values.get("reason") ?? ""}">`)}
<div class="buttons"><button name="do" value="deny">Deny</button></div>
</form>`,
  handover: ({ body, rootSessionId }) => html`<p class="text" dir="auto">${body}</p>
<p><a href="/s/${rootSessionId}">Open the session</a> to take over its browser. You need a link of the session.</p>`,
};

/**
 * Shows the arguments as JSON. Characters that are invisible or change the direction of text are shown as escapes, so
 * that the text cannot look like other arguments.
 */
const showArguments = (input: unknown): string =>
  (JSON.stringify(input, null, 2) ?? "").replace(/[^\P{C}\n]/gu, (character) =>
    [...Array(character.length).keys()]
      .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`)
      .join(""),
  );

type FieldText = {
  id: string;
  label: string;
  isOptional: boolean;
  hint?: string | undefined;
  problem?: string | undefined;
};

const notesOf = ({ id, hint, problem }: FieldText) => ({
  ids: [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(" "),
  notes: html`${hint && html`<p class="hint" id="${id}-hint" dir="auto">${hint}</p>`}${
    problem && html`<p class="problem" id="${id}-problem">${problem}.</p>`
  }`,
});

/** Composes a field with its label, hint and problem. `input` gets the attributes that connect it to them. */
function field(text: FieldText, input: (attributes: Html) => Html): Html {
  const { id, label, isOptional, problem } = text;
  const { ids, notes } = notesOf(text);
  const attributes = html`id="${id}"${ids !== "" && html` aria-describedby="${ids}"`}${
    problem !== undefined && html` aria-invalid="true"`
  }${!isOptional && html` aria-required="true"`}`;
  return html`<div><label class="label" for="${id}" dir="auto">${label}${isOptional && html` <span class="optional">(optional)</span>`}</label>${input(attributes)}${notes}</div>`;
}

/** Composes a group of choices. */
function group(text: FieldText, choices: Html[]): Html {
  const { label, isOptional, problem } = text;
  const { ids, notes } = notesOf(text);
  return html`<fieldset${ids !== "" && html` aria-describedby="${ids}"`}${
    problem !== undefined && html` aria-invalid="true"`
  }><legend dir="auto">${label}${isOptional && html` <span class="optional">(optional)</span>`}</legend>${choices}${notes}</fieldset>`;
}

function textFields({ options }: Item, sent: Sent | undefined): Html {
  const chosen = sent?.values.get("option");
  const problem = sent?.problems.text && `An answer ${sent.problems.text}`;
  const text = (attributes: Html) =>
    html`<textarea ${attributes} name="text" maxlength="${TEXT_MAX}" dir="auto">
${sent?.values.get("text") ?? ""}</textarea>`;
  if (!options || options.length === 0)
    return field({ id: "text", label: "Your answer", isOptional: false, problem }, text);
  const radios = options.map(
    (option) =>
      html`<label class="choice" dir="auto"><input type="radio" name="option" value="${option}"${chosen === option && html` checked`}> ${option}</label>`,
  );
  return html`${group({ id: "option", label: "Choose an answer", isOptional: false }, radios)}${field(
    { id: "text", label: "Or answer in your own words", isOptional: true, problem },
    text,
  )}`;
}

function fieldsOf(form: NonNullable<Item["form"]>, sent: Sent | undefined): Html {
  const values = sent ? readValues(form.properties, sent.values) : startValues(form);
  const fields = Object.entries(form.properties).map(([name, each], index) =>
    formField(each, `field-${index}`, name, {
      isOptional: !form.required.includes(name),
      value: values[name],
      problem: sent?.problems[name],
    }),
  );
  return html`${fields}`;
}

const INPUT_TYPES = { date: "date", "date-time": "text", email: "email", uri: "url" } as const;

function formField(
  definition: FormField,
  id: string,
  name: string,
  {
    isOptional,
    value,
    problem,
  }: { isOptional: boolean; value: FormValues[string]; problem: string | undefined },
): Html {
  const { type, title = name, description, format } = definition;
  const key = `${FIELD_PREFIX}${name}`;
  const choices = listChoices(definition);
  const text = { id, label: title, isOptional, hint: description, problem: problem && `${title} ${problem}` };
  if (type === "boolean") {
    const { ids, notes } = notesOf(text);
    return html`<div><label class="choice" dir="auto"><input type="checkbox" id="${id}" name="${key}"${value === true && html` checked`}${
      ids !== "" && html` aria-describedby="${ids}"`
    }> ${title}</label>${notes}</div>`;
  }
  if (type === "array") {
    const chosen = Array.isArray(value) ? value : [];
    return group(
      text,
      choices.map(
        (choice) =>
          html`<label class="choice" dir="auto"><input type="checkbox" name="${key}" value="${choice.value}"${chosen.includes(choice.value) && html` checked`}> ${choice.label}</label>`,
      ),
    );
  }
  const shown = value === undefined ? "" : String(value);
  if (choices.length > 0)
    return field(
      text,
      (attributes) =>
        html`<select ${attributes} name="${key}"><option value="">${isOptional ? "None" : "Choose…"}</option>${choices.map(
          (choice) =>
            html`<option value="${choice.value}"${shown === choice.value && html` selected`}>${choice.label}</option>`,
        )}</select>`,
    );
  const isNumber = type === "number" || type === "integer";
  // Text is sent as the person typed it: a number that cannot be read is then named in the answer, instead of lost.
  return field(
    text,
    (attributes) =>
      html`<input ${attributes} name="${key}" type="${format ? INPUT_TYPES[format] : "text"}"${
        isNumber && html` inputmode="${type === "integer" ? "numeric" : "decimal"}"`
      } value="${shown}" dir="auto">`,
  );
}
