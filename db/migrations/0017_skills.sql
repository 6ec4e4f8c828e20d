CREATE TABLE "skill_files" (
	"version" text NOT NULL,
	"path" text NOT NULL,
	"bytes" "bytea" NOT NULL,
	CONSTRAINT "skill_files_version_path_pk" PRIMARY KEY("version","path")
);
--> statement-breakpoint
CREATE TABLE "skill_versions" (
	"version" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"description" text NOT NULL,
	"file_count" integer NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "skills" jsonb;--> statement-breakpoint
ALTER TABLE "skill_files" ADD CONSTRAINT "skill_files_version_skill_versions_version_fk" FOREIGN KEY ("version") REFERENCES "public"."skill_versions"("version") ON DELETE cascade ON UPDATE no action;