CREATE TABLE "receipts" (
	"run_id" text PRIMARY KEY NOT NULL,
	"session_id" text NOT NULL,
	"list" text,
	"job_number" integer DEFAULT 1 NOT NULL,
	"requested_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"made_at" timestamp (3) with time zone,
	CONSTRAINT "receipts_made" CHECK (("receipts"."list" is null) = ("receipts"."made_at" is null))
);
--> statement-breakpoint
ALTER TABLE "receipts" ADD CONSTRAINT "receipts_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "receipts" ADD CONSTRAINT "receipts_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "receipts_session" ON "receipts" USING btree ("session_id");--> statement-breakpoint
CREATE INDEX "receipts_open" ON "receipts" USING btree ("requested_at") WHERE made_at is null;