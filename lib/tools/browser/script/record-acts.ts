import { PAGE_ACTIONS_MAX, type PageAction } from "#lib/events/page-action-schema.ts";
import { shorten } from "#lib/text/shorten.ts";
import { ACTS } from "./child/page-acts.ts";
import { nameTarget } from "./name-target.ts";
import type { FromChild } from "./script-protocol.ts";

/** A call of a script that did something to the page. */
export type ScriptAct = NonNullable<Extract<FromChild, { type: "call" }>["act"]>;

const WHAT_CHARS_MAX = 120;

/** Collects what a script does to the page: its calls that have succeeded, in the order in which they ended. */
export function createActRecorder() {
  const running = new Map<number, ScriptAct>();
  const done: ScriptAct[] = [];
  return {
    begin(id: number, act: ScriptAct | undefined): void {
      if (act && running.size < PAGE_ACTIONS_MAX) running.set(id, act);
    },
    end(id: number, isDone: boolean): void {
      const act = running.get(id);
      running.delete(id);
      if (act && isDone && done.length < PAGE_ACTIONS_MAX) done.push(act);
    },
    list: (): ScriptAct[] => [...done],
  };
}

/**
 * Describes what a script did, for people. The same action on the same element several times in a row counts once.
 *
 * @param describeRef returns how a snapshot describes the element of a ref.
 */
export function describeActs(
  acts: readonly ScriptAct[],
  describeRef: (ref: string) => string | undefined,
): PageAction[] {
  const actions: PageAction[] = [];
  for (const act of acts) {
    const did = ACTS[act.method];
    if (did === undefined) continue;
    const what = describeWhat(act, did, describeRef);
    const last = actions.at(-1);
    if (last?.did !== did || last.what !== what) actions.push({ did, what });
  }
  return actions;
}

function describeWhat(
  { selector, url, key }: ScriptAct,
  did: PageAction["did"],
  describeRef: (ref: string) => string | undefined,
): string | null {
  if (did === "opened") return url === undefined ? null : describeUrl(url);
  if (did === "pressed") return key === undefined ? null : shorten(key, WHAT_CHARS_MAX);
  return selector === undefined ? null : nameTarget(selector, describeRef);
}

/** The query and the fragment are left out, because they may contain secrets. */
function describeUrl(url: string): string {
  if (!URL.canParse(url)) return shorten(url.split(/[?#]/, 1)[0] ?? "", WHAT_CHARS_MAX);
  const { origin, pathname } = new URL(url);
  return shorten(
    origin === "null" ? (url.split(/[?#]/, 1)[0] ?? "") : `${origin}${pathname}`,
    WHAT_CHARS_MAX,
  );
}
