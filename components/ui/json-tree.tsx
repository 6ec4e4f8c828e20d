"use client";

import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { pointerSegment } from "#lib/page/labels/deliverable-marks.ts";
import { countOf } from "#lib/text/count-of.ts";
import { cn } from "./cn.ts";

/** How many levels of the tree are open at first, and how many members of an object or array are shown at first. */
const OPEN_LEVELS = 3;
const MEMBERS_MAX = 100;

type NodeProps = {
  name: string | number | null;
  value: unknown;
  pointer: string;
  level: number;
  marks: Marks;
  /** Whether all levels are open at first, and texts are shown as in JSON, so that nothing looks like something else. */
  isExact: boolean;
};

/** The errors in a JSON value, by the JSON pointer of the invalid part. */
type Marks = ReadonlyMap<string, string>;

const NO_MARKS: Marks = new Map();

/**
 * Shows a JSON value as a collapsible tree. The parts of the value that `marks` lists are highlighted and show their
 * error.
 */
export function JsonTree({
  value,
  marks = NO_MARKS,
  isExact = false,
}: {
  value: unknown;
  marks?: Marks;
  isExact?: boolean;
}) {
  return (
    <div className="font-mono text-xs leading-5">
      <Node name={null} value={value} pointer="" level={0} marks={marks} isExact={isExact} />
    </div>
  );
}

function Node(props: NodeProps) {
  const { value } = props;
  return typeof value === "object" && value !== null ? (
    <Branch {...props} value={value} />
  ) : (
    <Leaf {...props} />
  );
}

function Branch({ name, value, pointer, level, marks, isExact }: NodeProps & { value: object }) {
  const mark = marks.get(pointer);
  const [isOpen, setOpen] = useState(
    isExact || level < OPEN_LEVELS || [...marks.keys()].some((place) => place.startsWith(`${pointer}/`)),
  );
  const [isWhole, setWhole] = useState(false);
  const isArray = Array.isArray(value);
  const members: [string | number, unknown][] = isArray ? [...value.entries()] : Object.entries(value);
  const shown = isWhole ? members : members.slice(0, MEMBERS_MAX);
  const [open, close] = isArray ? "[]" : "{}";
  const count = countOf(members.length, isArray ? "item" : "field");
  return (
    <div>
      <button
        type="button"
        aria-expanded={isOpen}
        disabled={members.length === 0}
        onClick={() => setOpen(!isOpen)}
        className={cn(
          "flex min-h-5 max-w-full items-start gap-1 rounded-sm pr-1 text-left hover:bg-hover",
          mark !== undefined && "bg-bad-soft",
        )}
      >
        <ChevronRight
          aria-hidden
          className={cn(
            "mt-1 size-3 shrink-0 text-faint transition-transform",
            isOpen && "rotate-90",
            members.length === 0 && "invisible",
          )}
        />
        <span>
          <Name name={name} isExact={isExact} />
          <span className="text-faint">
            {isOpen && members.length > 0 ? open : `${open}${members.length ? " … " : ""}${close}`}
          </span>
          {!(isOpen && members.length > 0) && (
            <span className="pl-2 font-sans text-2xs text-faint">{count}</span>
          )}
          <MarkNote mark={mark} />
        </span>
      </button>
      {isOpen && members.length > 0 && (
        <div className="ml-[5px] border-l pl-3">
          {shown.map(([key, member]) => (
            <Node
              key={key}
              name={key}
              value={member}
              pointer={pointer + pointerSegment(key)}
              level={level + 1}
              marks={marks}
              isExact={isExact}
            />
          ))}
          {shown.length < members.length && (
            <button
              type="button"
              className="pl-4 text-accent-strong hover:underline"
              onClick={() => setWhole(true)}
            >
              Show all {members.length}
            </button>
          )}
        </div>
      )}
    </div>
  );
}

function Leaf({ name, value, pointer, marks, isExact }: NodeProps) {
  const mark = marks.get(pointer);
  return (
    <div className={cn("flex items-start gap-1 rounded-sm pl-4", mark !== undefined && "bg-bad-soft")}>
      <span className="min-w-0 whitespace-pre-wrap break-words">
        <Name name={name} isExact={isExact} />
        <Scalar value={value} isExact={isExact} />
        <MarkNote mark={mark} />
      </span>
    </div>
  );
}

function MarkNote({ mark }: { mark: string | undefined }) {
  return mark === undefined ? null : <span className="pl-2 font-sans text-2xs text-bad">{mark}</span>;
}

function Name({ name, isExact }: { name: string | number | null; isExact: boolean }) {
  return name === null ? null : (
    <span className={typeof name === "number" ? "text-faint" : "text-soft"}>
      {isExact && typeof name === "string" ? JSON.stringify(name) : name}
      <span className="text-faint">: </span>
    </span>
  );
}

function Scalar({ value, isExact }: { value: unknown; isExact: boolean }) {
  if (typeof value === "string")
    return <span className="text-ink">{isExact ? JSON.stringify(value) : `“${value}”`}</span>;
  if (value === null) return <span className="text-faint">null</span>;
  return <span className="text-accent-strong tabular-nums">{String(value)}</span>;
}
