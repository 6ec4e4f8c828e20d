import type { Group } from "./list-groups.ts";
import { MethodMark } from "./method-mark.tsx";

/** Shows links to all operations, by group: as a sidebar on a wide screen, folded above the text on a narrow screen. */
export function ReferenceNav({ groups }: { groups: Group[] }) {
  return (
    <>
      <nav
        aria-label="Operations"
        className="sticky top-12 h-[calc(100dvh-48px)] w-72 shrink-0 overflow-y-auto border-r px-3 py-6 max-lg:hidden"
      >
        <GroupList groups={groups} />
      </nav>
      <details className="border-b px-4 py-3 lg:hidden">
        <summary className="font-medium text-sm">Contents</summary>
        <nav aria-label="Operations" className="pt-3">
          <GroupList groups={groups} />
        </nav>
      </details>
    </>
  );
}

const GroupList = ({ groups }: { groups: Group[] }) => (
  <ul className="flex flex-col gap-5">
    {groups.map(({ name, id, operations }) => (
      <li key={id}>
        <a href={`#${id}`} className="px-2 font-semibold text-faint text-xs hover:text-ink">
          {name}
        </a>
        <ul className="mt-1 flex flex-col">
          {operations.map(({ method, isCallback, operation }) => (
            <li key={operation.operationId}>
              <a
                href={`#${operation.operationId}`}
                className="flex items-baseline gap-2 rounded-md px-2 py-1 text-sm text-soft hover:bg-hover hover:text-ink"
              >
                <MethodMark method={isCallback ? "EVENT" : method} />
                <span className="min-w-0">{operation.summary}</span>
              </a>
            </li>
          ))}
        </ul>
      </li>
    ))}
  </ul>
);
