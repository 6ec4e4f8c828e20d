CREATE TABLE "landing_page_blobs" (
	"hash" text PRIMARY KEY NOT NULL,
	"content" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "landing_page_files" (
	"slug" text NOT NULL,
	"number" integer NOT NULL,
	"path" text NOT NULL,
	"hash" text NOT NULL,
	"size_bytes" integer NOT NULL,
	"media_type" text NOT NULL,
	CONSTRAINT "landing_page_files_slug_number_path_pk" PRIMARY KEY("slug","number","path")
);
--> statement-breakpoint
CREATE TABLE "landing_page_versions" (
	"slug" text NOT NULL,
	"number" integer NOT NULL,
	"digest" text NOT NULL,
	"file_count" integer NOT NULL,
	"size_bytes" integer NOT NULL,
	"note" text,
	"deployed_by" text NOT NULL,
	"run_id" text,
	"call_id" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "landing_page_versions_slug_number_pk" PRIMARY KEY("slug","number"),
	CONSTRAINT "landing_page_versions_call" UNIQUE("run_id","call_id")
);
--> statement-breakpoint
CREATE TABLE "landing_pages" (
	"slug" text PRIMARY KEY NOT NULL,
	"owner_id" text NOT NULL,
	"session_id" text,
	"folder" text NOT NULL,
	"version" integer,
	"newest_version" integer NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "landing_pages_version" CHECK ("landing_pages"."version" between 1 and "landing_pages"."newest_version")
);
--> statement-breakpoint
ALTER TABLE "landing_page_files" ADD CONSTRAINT "landing_page_files_hash_landing_page_blobs_hash_fk" FOREIGN KEY ("hash") REFERENCES "public"."landing_page_blobs"("hash") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "landing_page_files" ADD CONSTRAINT "landing_page_files_version" FOREIGN KEY ("slug","number") REFERENCES "public"."landing_page_versions"("slug","number") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "landing_page_versions" ADD CONSTRAINT "landing_page_versions_slug_landing_pages_slug_fk" FOREIGN KEY ("slug") REFERENCES "public"."landing_pages"("slug") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "landing_pages" ADD CONSTRAINT "landing_pages_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "landing_page_files_hash" ON "landing_page_files" USING btree ("hash");--> statement-breakpoint
CREATE INDEX "landing_pages_session" ON "landing_pages" USING btree ("session_id","folder");--> statement-breakpoint
CREATE INDEX "landing_pages_owner" ON "landing_pages" USING btree ("owner_id","created_at","slug");