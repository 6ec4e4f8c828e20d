CREATE TABLE "recorded_pictures" (
	"id" text PRIMARY KEY NOT NULL,
	"session_id" text NOT NULL,
	"position" integer NOT NULL,
	"run_id" text,
	"call_id" text,
	"url" text NOT NULL,
	"title" text NOT NULL,
	"bytes" "bytea" NOT NULL,
	"size_bytes" integer NOT NULL,
	"taken_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "recorded_pictures" ADD CONSTRAINT "recorded_pictures_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "recorded_pictures" ADD CONSTRAINT "recorded_pictures_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "recorded_pictures_session" ON "recorded_pictures" USING btree ("session_id","position");--> statement-breakpoint
CREATE INDEX "recorded_pictures_run" ON "recorded_pictures" USING btree ("run_id");--> statement-breakpoint
CREATE INDEX "recorded_pictures_age" ON "recorded_pictures" USING btree ("taken_at");