CREATE TABLE "upload_links" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"pipe_id" text NOT NULL,
	"sender_id" uuid NOT NULL,
	"code_hash" text NOT NULL,
	"title" text NOT NULL,
	"message" text NOT NULL,
	"password_hash" text,
	"expires_at" timestamp (3) with time zone,
	"closed_at" timestamp (3) with time zone,
	"max_files" integer,
	"max_bytes" bigint,
	"files_created" integer DEFAULT 0 NOT NULL,
	"bytes_created" bigint DEFAULT 0 NOT NULL,
	"allowed_types" text[] DEFAULT '{}' NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"deleted_at" timestamp (3) with time zone,
	CONSTRAINT "upload_links_senderId_unique" UNIQUE("sender_id"),
	CONSTRAINT "upload_links_codeHash_unique" UNIQUE("code_hash")
);
--> statement-breakpoint
ALTER TABLE "upload_links" ADD CONSTRAINT "upload_links_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "upload_links_workspace_id_index" ON "upload_links" USING btree ("workspace_id");--> statement-breakpoint
CREATE INDEX "upload_links_pipe_id_id_index" ON "upload_links" USING btree ("pipe_id","id");