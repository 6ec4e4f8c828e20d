import { CodeBlock } from "../../ui/code-block.tsx";
import { JsonTree } from "../../ui/json-tree.tsx";

/** The arguments that are shown as text, and the language of their colors. */
const LANGUAGES: Record<string, string | undefined> = {
  code: "js",
  script: "js",
  command: "bash",
  content: undefined,
};

/**
 * Shows all arguments of a call: scripts, commands and contents of files without JSON escapes, everything else as a
 * tree.
 */
export function CallArguments({ input }: { input: unknown }) {
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
  const entries = isObject ? Object.entries(input) : [];
  const texts = entries.flatMap(([name, value]) =>
    typeof value === "string" && Object.hasOwn(LANGUAGES, name) ? [{ name, value }] : [],
  );
  const others = entries.filter(([name]) => !texts.some((each) => each.name === name));
  return (
    <div className="flex flex-col gap-2">
      {(others.length > 0 || texts.length === 0) && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
        <div tabIndex={0} className="max-h-60 overflow-auto rounded-md border bg-sunken px-3 py-2">
          <JsonTree value={isObject ? Object.fromEntries(others) : input} isExact />
        </div>
      )}
      {texts.map(({ name, value }) => {
        const language = LANGUAGES[name];
        return (
          <div key={name} className="flex flex-col gap-1">
            <span className="text-soft text-xs">{name}</span>
            <CodeBlock text={value} {...(language !== undefined && { language })} />
          </div>
        );
      })}
    </div>
  );
}
