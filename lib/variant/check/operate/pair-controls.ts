import type { Control } from "#lib/injected/check/operate/find-controls.ts";

/** A control of the original page, and the same control with the variant. */
export type ControlPair = { before: Control; after: Control };

/**
 * Finds for each control of the original page the same control with the variant. Strong keys, such as ids, decide
 * before weak ones, such as places, which change when elements are moved. A control without a counterpart is left out.
 */
export function pairControls(
  originals: Control[],
  controls: Control[],
): { pairs: ControlPair[]; added: Control[] } {
  const pairs: ControlPair[] = [];
  const [left, right] = [new Set(originals), new Set(controls)];
  for (const kind of ["id:", "both:", "content:", "place:", "nth:"]) {
    const byKey = Map.groupBy(
      [...right].flatMap((control) =>
        control.keys.map((key) => ({ key: `${control.kind} ${key}`, control })),
      ),
      ({ key }) => key,
    );
    for (const before of left) {
      const key = before.keys.find((each) => each.startsWith(kind));
      const after = byKey.get(`${before.kind} ${key}`)?.find(({ control }) => right.has(control))?.control;
      if (key === undefined || !after) continue;
      pairs.push({ before, after });
      left.delete(before);
      right.delete(after);
    }
  }
  const order = (pair: ControlPair) => originals.indexOf(pair.before);
  return { pairs: pairs.toSorted((one, other) => order(one) - order(other)), added: [...right] };
}
