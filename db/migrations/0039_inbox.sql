CREATE TABLE "inbox_items" (
	"id" text PRIMARY KEY NOT NULL,
	"session_id" text NOT NULL,
	"root_session_id" text NOT NULL,
	"owner_id" text NOT NULL,
	"run_id" text,
	"kind" text NOT NULL,
	"subject_id" text NOT NULL,
	"title" text NOT NULL,
	"body" text NOT NULL,
	"options" jsonb,
	"form" json,
	"call" json,
	"for_session" boolean DEFAULT false NOT NULL,
	"reason" text,
	"begun_at" timestamp (3) with time zone,
	"agent_name" text,
	"state" text DEFAULT 'open' NOT NULL,
	"settled_by" text,
	"settled_at" timestamp (3) with time zone,
	"expires_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "inbox_items_kind" CHECK ("inbox_items"."kind" in ('question', 'approval', 'handover', 'budget', 'plan')),
	CONSTRAINT "inbox_items_state" CHECK ("inbox_items"."state" in ('open', 'answered', 'approved', 'denied', 'done', 'declined', 'expired', 'withdrawn')),
	CONSTRAINT "inbox_items_settled_by" CHECK ("inbox_items"."settled_by" in ('person', 'program')),
	CONSTRAINT "inbox_items_settled" CHECK (("inbox_items"."state" = 'open') = ("inbox_items"."settled_at" is null))
);
--> statement-breakpoint
ALTER TABLE "tool_calls" DROP CONSTRAINT "tool_calls_refusal";--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "interaction" jsonb;--> statement-breakpoint
ALTER TABLE "inbox_items" ADD CONSTRAINT "inbox_items_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "inbox_items_owner" ON "inbox_items" USING btree ("owner_id","created_at","id");--> statement-breakpoint
CREATE INDEX "inbox_items_owner_open" ON "inbox_items" USING btree ("owner_id","created_at","id") WHERE state = 'open';--> statement-breakpoint
CREATE INDEX "inbox_items_root" ON "inbox_items" USING btree ("root_session_id","created_at","id");--> statement-breakpoint
CREATE INDEX "inbox_items_session" ON "inbox_items" USING btree ("session_id");--> statement-breakpoint
CREATE INDEX "inbox_items_run_open" ON "inbox_items" USING btree ("run_id") WHERE state = 'open';--> statement-breakpoint
CREATE UNIQUE INDEX "inbox_items_approval" ON "inbox_items" USING btree ("subject_id") WHERE kind = 'approval';--> statement-breakpoint
CREATE INDEX "inbox_items_granted" ON "inbox_items" USING btree ("root_session_id") WHERE for_session;--> statement-breakpoint
CREATE UNIQUE INDEX "inbox_items_open_subject" ON "inbox_items" USING btree ("subject_id") WHERE state = 'open';--> statement-breakpoint
ALTER TABLE "tool_calls" ADD CONSTRAINT "tool_calls_refusal" CHECK ("tool_calls"."refusal" in ('plan_first', 'not_approved'));
--> statement-breakpoint
INSERT INTO "inbox_items" ("id", "session_id", "root_session_id", "owner_id", "run_id", "kind", "subject_id", "title", "body", "options", "form", "agent_name", "expires_at", "created_at")
SELECT 'itm_' || substr(e."id", 5), e."session_id", coalesce(a."root_session_id", e."session_id"), s."owner_id", e."run_id", 'question', e."id", left(regexp_replace(e."question", '\s+', ' ', 'g'), 120), e."question", e."options", e."form", a."name", e."expires_at", e."created_at"
FROM "elicitations" e JOIN "sessions" s ON s."id" = e."session_id" LEFT JOIN "agents" a ON a."session_id" = e."session_id"
WHERE e."state" = 'open';--> statement-breakpoint
INSERT INTO "inbox_items" ("id", "session_id", "root_session_id", "owner_id", "run_id", "kind", "subject_id", "title", "body", "agent_name", "expires_at", "created_at")
SELECT 'itm_' || substr(w."run_id", 5), w."session_id", coalesce(a."root_session_id", w."session_id"), s."owner_id", w."run_id", 'budget', w."run_id", 'The budget is used up', coalesce(w."subjects" ->> 0, ''), a."name", w."deadline_at", w."created_at"
FROM "waits" w JOIN "sessions" s ON s."id" = w."session_id" LEFT JOIN "agents" a ON a."session_id" = w."session_id"
WHERE w."kind" = 'budget' AND w."ended_by" IS NULL;--> statement-breakpoint
INSERT INTO "inbox_items" ("id", "session_id", "root_session_id", "owner_id", "run_id", "kind", "subject_id", "title", "body", "created_at")
SELECT 'itm_' || substr(p."session_id", 5), p."session_id", p."session_id", s."owner_id", p."run_id", 'plan', p."session_id", 'The plan waits for agreement', (SELECT left(string_agg('- ' || (i.item ->> 'id') || ' [' || (i.item ->> 'status') || '] ' || (i.item ->> 'text'), E'\n' ORDER BY i.position), 10000) FROM jsonb_array_elements(p."items") WITH ORDINALITY AS i(item, position)), p."updated_at"
FROM "plans" p JOIN "sessions" s ON s."id" = p."session_id"
WHERE p."mode" = 'plan_first' AND EXISTS (SELECT 1 FROM jsonb_array_elements(p."items") AS item WHERE item ->> 'status' IN ('todo', 'in_progress'));
