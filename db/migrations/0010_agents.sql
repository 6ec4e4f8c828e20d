CREATE TABLE "agents" (
	"session_id" text PRIMARY KEY NOT NULL,
	"parent_session_id" text NOT NULL,
	"root_session_id" text NOT NULL,
	"depth" integer NOT NULL,
	"name" text NOT NULL,
	"objective" text NOT NULL,
	"browser" text NOT NULL,
	"browser_session_id" text,
	"result_schema" json,
	"spawn_run_id" text NOT NULL,
	"spawn_call_id" text NOT NULL,
	"spawn_index" integer NOT NULL,
	"progress" text,
	"submission" json,
	"outcome" text,
	"result" json,
	"error" text,
	"is_submitted" boolean DEFAULT false NOT NULL,
	"usage" jsonb,
	"reported_in" text,
	"settled_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "agents_name" UNIQUE("root_session_id","name"),
	CONSTRAINT "agents_spawned" UNIQUE("spawn_run_id","spawn_call_id","spawn_index"),
	CONSTRAINT "agents_browser" CHECK ("agents"."browser" in ('own', 'shared', 'none')),
	CONSTRAINT "agents_outcome" CHECK ("agents"."outcome" in ('succeeded', 'failed', 'cancelled')),
	CONSTRAINT "agents_settled" CHECK (("agents"."outcome" is null) = ("agents"."settled_at" is null)),
	CONSTRAINT "agents_depth" CHECK ("agents"."depth" >= 1),
	CONSTRAINT "agents_browser_session" CHECK (("agents"."browser" = 'none') = ("agents"."browser_session_id" is null))
);
--> statement-breakpoint
ALTER TABLE "waits" ADD COLUMN "until" text DEFAULT 'any' NOT NULL;--> statement-breakpoint
ALTER TABLE "agents" ADD CONSTRAINT "agents_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "agents_parent" ON "agents" USING btree ("parent_session_id");--> statement-breakpoint
CREATE INDEX "agents_shared" ON "agents" USING btree ("browser_session_id") WHERE browser = 'shared';--> statement-breakpoint
CREATE INDEX "waits_agents" ON "waits" USING btree ("session_id") WHERE kind = 'agents' and ended_by is null;--> statement-breakpoint
ALTER TABLE "waits" ADD CONSTRAINT "waits_until" CHECK ("waits"."until" in ('any', 'all'));