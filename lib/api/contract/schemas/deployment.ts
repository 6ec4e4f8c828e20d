import { z } from "zod";
import { HOST_HOMES } from "#db/schema/unions.ts";
import { count } from "#lib/events/wire-values.ts";

/** A running browser host. Source: `wire.md`, Agent status. */
export const runningHostSchema = z
  .object({
    home: z.enum(HOST_HOMES).meta({
      description:
        "Where the host runs. `local`: on a machine of the service, which started it. `remote`: started by an operator. `sandbox`: in the sandbox of one session.",
    }),
    sessions: count.meta({
      description: "Number of sessions whose browser runs, starts or waits at the host. Up to 5 s old.",
      examples: [2],
    }),
    places: count.meta({ description: "Number of browsers that the host runs at most.", examples: [8] }),
  })
  .meta({ id: "RunningHost", description: "A browser host: a process that runs the browsers of sessions." });

/** Fields that say what the deployment can do. */
export const deploymentFields = {
  scripts: z.string().meta({
    description: "How the scripts of `browser_execute` are confined, or why this deployment runs none.",
    examples: ["bubblewrap: no network, no files, no environment, filtered system calls, a user per process"],
  }),
  missingTools: z.array(z.object({ tools: z.array(z.string()), reason: z.string() })).meta({
    description: "Tools that no session of this deployment has, because they cannot work on it, by reason.",
    examples: [[]],
  }),
};
