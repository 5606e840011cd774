CREATE TABLE "sender_groups" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"name" text NOT NULL,
	"pipe_ids" text[],
	"sources" text[],
	"silent_hours" integer,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "sender_groups_workspaceId_name_unique" UNIQUE("workspace_id","name")
);
--> statement-breakpoint
ALTER TABLE "sender_groups" ADD CONSTRAINT "sender_groups_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;