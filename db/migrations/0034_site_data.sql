CREATE TABLE "site_data" (
	"session_id" text NOT NULL,
	"name" text NOT NULL,
	"sealed" text NOT NULL,
	"size_bytes" integer NOT NULL,
	"used_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "site_data_session_id_name_pk" PRIMARY KEY("session_id","name")
);
--> statement-breakpoint
ALTER TABLE "browsers" ADD COLUMN "restart_notice" text;--> statement-breakpoint
ALTER TABLE "site_data" ADD CONSTRAINT "site_data_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;