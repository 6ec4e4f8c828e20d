import { z } from "zod";
import { defineTool, errorResult, type Tool } from "#lib/tools/tool.ts";
import {
  COMMAND_END_MS,
  COMMAND_TIMEOUT_MS_MAX,
  describeCommand,
} from "#lib/tools/workspace/describe-command.ts";
import { withinWorkspace } from "#lib/tools/workspace/within-workspace.ts";
import { SCRIPTS_FOLDER } from "../skill.ts";
import { readFiles } from "../skill-store.ts";
import { findSkillVersion, listPaths, type SkillToolServices, toSkillPath } from "./find-skill.ts";
import { runtimeOf } from "./runtime-of.ts";

const ARGS_MAX = 64;
const ARG_CHARACTERS_MAX = 4_000;

/**
 * `run_skill_script`: runs a script of a skill, with an argument array and without a shell. The script comes from the
 * stored version of the skill, which the agent cannot change, so the tool cannot bypass a policy that forbids
 * `run_shell`. Source: `security.md`, What comes in.
 */
export const runSkillScript = (services: SkillToolServices): Tool =>
  defineTool({
    name: "run_skill_script",
    description:
      "Runs a script of a skill in the session's workspace, without network. args are handed on as they are; files of the workspace are given by relative paths. Returns output and exit code.",
    input: z.object({
      name: z.string().min(1).max(200),
      script: z.string().min(1).max(1_000).describe("such as scripts/check.mjs"),
      args: z
        .array(
          z
            .string()
            .max(ARG_CHARACTERS_MAX)
            .refine((arg) => !arg.includes("\0"), "must not contain NUL"),
        )
        .max(ARGS_MAX)
        .default([]),
      timeoutMs: z.number().int().min(1).max(COMMAND_TIMEOUT_MS_MAX).default(60_000),
    }),
    // A repetition is not safe, because a script may change files of the workspace.
    idempotent: false,
    readOnly: false,
    changes: true,
    // Longer than the script's own deadline, so that a script that takes too long still returns its output so far.
    timeoutMs: COMMAND_TIMEOUT_MS_MAX + COMMAND_END_MS,
    longestMs: ({ timeoutMs }) => timeoutMs + COMMAND_END_MS,
    async execute({ name, script, args, timeoutMs }, call) {
      const found = await findSkillVersion(services, call, name);
      if (!found.ok) return errorResult(found.problem);
      const files = await readFiles(services.db, found.version);
      const path = toSkillPath(script);
      const file = files.find((each) => each.path === path && path.startsWith(SCRIPTS_FOLDER));
      if (!file) {
        const scripts = files
          .filter((each) => each.path.startsWith(SCRIPTS_FOLDER))
          .map((each) => ({ path: each.path, sizeBytes: each.bytes.byteLength }));
        const list = scripts.length === 0 ? "It has none." : `Its scripts (bytes):\n${listPaths(scripts)}`;
        return errorResult(`script: the skill has no script ${JSON.stringify(script)}. ${list}`);
      }
      const runtime = runtimeOf(path, file.bytes);
      if (!runtime)
        return errorResult(
          `script: ${path} cannot be run. Scripts are .mjs, .js and .cjs (Node), .py (Python) and .sh (Bash), or name one of these in their first line.`,
        );
      const { canRunCommands, detail } = services.sandbox.describe();
      if (!canRunCommands) return errorResult(detail);
      return withinWorkspace(services.sandbox, call, async (workspace) =>
        describeCommand(
          await workspace.runProgram(
            { runtime, files, script: path, args },
            { timeoutMs, signal: call.signal },
          ),
          workspace.note,
        ),
      );
    },
  });
