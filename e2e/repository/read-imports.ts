import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, extname, join, normalize, resolve, sep } from "node:path";

/** One import or re-export of a file. */
export type Import = {
  file: string;
  line: number;
  specifier: string;
  /** The imported file, if it belongs to the project. Undefined for a package. */
  target: string | undefined;
  isTypeOnly: boolean;
  isDynamic: boolean;
};

const root = resolve(import.meta.dirname, "../..");

/** Lists the files of a folder and its subfolders, as paths from the root of the repository. */
export function listFiles(folder: string): string[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(root.length + 1)
        .split(sep)
        .join("/"),
    )
    .sort();
}

/**
 * Reads the import and export statements that begin at the start of a line; they may span several lines. Also reads
 * dynamic imports of a literal path.
 */
export function readImports(file: string, text = readFileSync(join(root, file), "utf8")): Import[] {
  const found: Import[] = [];
  const statement = /^(?:import|export)\s+(?:(type\s)?([\w\s{},*$]*?)\sfrom\s*)?["']([^"'\n]+)["']/gm;
  for (const match of text.matchAll(statement)) {
    found.push(describeImport(match.index, match[3], isTypeClause(match[1], match[2]), false));
  }
  for (const match of text.matchAll(/^(?!\s*(?:\/\/|\*)).*?\bimport\(\s*["']([^"'\n]+)["']\s*\)/gm)) {
    // `import("…").Name` refers to a type, and `await import("…")` loads a module.
    const isType = /^\s*\.[A-Z]/.test(text.slice(match.index + match[0].length));
    found.push(describeImport(match.index, match[1], isType, true));
  }
  return found;

  function describeImport(index: number, specifier = "", isTypeOnly: boolean, isDynamic: boolean): Import {
    const line = text.slice(0, index).split("\n").length;
    return { file, line, specifier, target: resolveImport(file, specifier), isTypeOnly, isDynamic };
  }
}

/** Whether an import has only types: `import type …`, or `import { type A, type B }`. */
function isTypeClause(keyword: string | undefined, clause: string | undefined): boolean {
  if (keyword !== undefined) return true;
  const names = /^\s*\{([^}]*)\}\s*$/.exec(clause ?? "")?.[1];
  if (names === undefined) return false;
  const parts = names.split(",").filter((name) => name.trim() !== "");
  return parts.length > 0 && parts.every((name) => /^\s*type\s/.test(name));
}

function resolveImport(file: string, specifier: string): string | undefined {
  if (!/^(#|\.\.?\/)/.test(specifier)) return undefined;
  const path = specifier.startsWith("#")
    ? specifier.slice(1)
    : normalize(join(dirname(file), specifier))
        .split(sep)
        .join("/");
  const endings = extname(path) === "" ? [".ts", ".tsx", "/index.ts", ""] : ["", ".ts", ".tsx"];
  return (
    endings.map((ending) => `${path}${ending}`).find((candidate) => existsSync(join(root, candidate))) ?? path
  );
}
