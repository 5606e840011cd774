CREATE TABLE "pipe_hooks" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"pipe_id" text NOT NULL,
	"hook" text NOT NULL,
	"enabled" boolean NOT NULL,
	"url" text NOT NULL,
	"timeout_seconds" integer NOT NULL,
	"without_answer" text NOT NULL,
	"secret_encrypted" text NOT NULL,
	"previous_secret_encrypted" text,
	"previous_secret_until" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "pipe_hooks_pipeId_hook_unique" UNIQUE("pipe_id","hook")
);
--> statement-breakpoint
ALTER TABLE "pipe_hooks" ADD CONSTRAINT "pipe_hooks_pipe_id_pipes_id_fk" FOREIGN KEY ("pipe_id") REFERENCES "public"."pipes"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "pipe_hooks_workspace_id_index" ON "pipe_hooks" USING btree ("workspace_id");