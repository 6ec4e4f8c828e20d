const TONES: Record<string, string> = {
  GET: "text-good",
  POST: "text-accent-strong",
  PUT: "text-warn",
  PATCH: "text-warn",
  DELETE: "text-bad",
};

const SHORT: Record<string, string> = { DELETE: "DEL" };

/** Shows a short label for a method. The method `EVENT` stands for requests that the service sends. */
export const MethodMark = ({ method }: { method: string }) => (
  <abbr
    title={method}
    className={`w-10 shrink-0 font-medium font-mono text-2xs no-underline ${TONES[method] ?? "text-faint"}`}
  >
    {SHORT[method] ?? method}
  </abbr>
);
