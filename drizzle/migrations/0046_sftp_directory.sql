CREATE TABLE "sftp_entries" (
	"file_id" uuid PRIMARY KEY NOT NULL,
	"pipe_id" text NOT NULL,
	"sender_id" uuid NOT NULL,
	"subject" text,
	"folder" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"modified_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sftp_host_keys" (
	"id" text PRIMARY KEY NOT NULL,
	"sealed" text NOT NULL,
	"public_key" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "sftp_entries" ADD CONSTRAINT "sftp_entries_file_id_files_id_fk" FOREIGN KEY ("file_id") REFERENCES "public"."files"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "sftp_entries_by_path" ON "sftp_entries" USING btree ("pipe_id","sender_id","subject","folder","name","file_id");--> statement-breakpoint
CREATE INDEX "sftp_entries_by_age" ON "sftp_entries" USING btree ("created_at");