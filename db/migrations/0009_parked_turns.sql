CREATE TABLE "waits" (
	"run_id" text NOT NULL,
	"call_id" text NOT NULL,
	"session_id" text NOT NULL,
	"kind" text NOT NULL,
	"subjects" jsonb NOT NULL,
	"deadline_at" timestamp (3) with time zone,
	"ended_by" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "waits_run_id_call_id_pk" PRIMARY KEY("run_id","call_id"),
	CONSTRAINT "waits_kind" CHECK ("waits"."kind" in ('person', 'agents', 'tests', 'control')),
	CONSTRAINT "waits_ended_by" CHECK ("waits"."ended_by" in ('settled', 'deadline', 'message', 'stopped'))
);
--> statement-breakpoint
ALTER TABLE "elicitations" DROP CONSTRAINT "elicitations_state";--> statement-breakpoint
ALTER TABLE "elicitations" ALTER COLUMN "answer" SET DATA TYPE json USING to_json("answer");--> statement-breakpoint
ALTER TABLE "elicitations" ADD COLUMN "form" json;--> statement-breakpoint
ALTER TABLE "elicitations" ADD COLUMN "expires_at" timestamp (3) with time zone;--> statement-breakpoint
UPDATE "elicitations" SET "expires_at" = "created_at" + interval '24 hours';--> statement-breakpoint
ALTER TABLE "elicitations" ALTER COLUMN "expires_at" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "parked_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "waits" ADD CONSTRAINT "waits_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "waits_deadline" ON "waits" USING btree ("deadline_at") WHERE ended_by is null;--> statement-breakpoint
CREATE INDEX "waits_control" ON "waits" USING btree ("session_id") WHERE kind = 'control' and ended_by is null;--> statement-breakpoint
ALTER TABLE "elicitations" ADD CONSTRAINT "elicitations_state" CHECK ("elicitations"."state" in ('open', 'answered', 'declined', 'unanswered', 'withdrawn'));--> statement-breakpoint
ALTER TABLE "runs" ADD CONSTRAINT "runs_parked" CHECK ("runs"."parked_at" is null or "runs"."state" = 'running');