import type { ReactNode } from "react";
import type { JsonSchema } from "#lib/api/openapi/json-schema.ts";
import { describeLimits } from "./describe-type.ts";
import { Words } from "./prose.tsx";
import { TypeWords } from "./type-words.tsx";

/** Shows one field or parameter: its name, type, description, limits and nested fields. */
export function FieldLine({
  name,
  mark,
  schema,
  description,
  children,
}: {
  name: string;
  /** `required` marks the required fields of a request; `optional` marks the optional fields of a response. */
  mark: "required" | "optional" | undefined;
  schema: JsonSchema;
  description: string | undefined;
  children?: ReactNode;
}) {
  const limits = describeLimits(schema);
  return (
    <li className="border-t py-2 first:border-t-0">
      <p className="flex flex-wrap items-baseline gap-x-2">
        <code className="font-medium font-mono text-xs">{name}</code>
        <span className="min-w-0 font-mono text-faint text-xs [overflow-wrap:anywhere]">
          <TypeWords schema={schema} />
        </span>
        {mark && (
          <span className={`text-2xs ${mark === "required" ? "text-warn" : "text-faint"}`}>{mark}</span>
        )}
        {schema.deprecated && <span className="text-2xs text-bad">deprecated</span>}
      </p>
      {(description !== undefined || limits.length > 0) && (
        <p className="text-sm text-soft">
          {description !== undefined && <Words text={description} />}
          {limits.length > 0 && <span className="text-faint"> {limits.join(" · ")}</span>}
        </p>
      )}
      {children}
    </li>
  );
}
