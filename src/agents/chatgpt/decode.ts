/** Conversations to what is seen of them and what was abandoned. No tokens are recorded. */

import { pointer } from '../../framing/document-frames.ts';
import { sourceError } from '../../framing/errors.ts';
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter, EventAt } from '../agent.ts';
import { epochTime } from '../dialects/clock.ts';
import { asObject, boolField, dig, field, type Json, nameField, objectField, stringField } from '../dialects/json.ts';
import { eventAt, messageFields, sessionFields, toolCallFields, toolResultFields } from '../dialects/rows.ts';
import { type Content, messageFault, readContent } from './content.ts';
import { inReadingOrder, readNode, type TreeNode } from './tree.ts';

interface Told {
  readonly message: Json;
  readonly content: Content;
  readonly at: (slot: string) => EventAt;
  readonly node: TreeNode;
  readonly isActive: boolean;
}

export class ConversationDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;
  /** Of all nodes of the file: reading order is not that of the file. */
  private nodes = 0;

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
  }

  frame(frame: Frame): void {
    const conversation = asObject(frame.json());
    const isWholeFile = frame.locator === '';
    const mapping = conversation === null ? undefined : field(conversation, 'mapping');
    if (conversation !== null && asObject(mapping) !== null) {
      this.conversation(conversation, asObject(mapping)!, frame, isWholeFile);
    } else if (isWholeFile) {
      throw sourceError('foreign_schema', 'is neither a list of conversations nor a conversation: it has no mapping');
    } else {
      this.out.badRecord(frame.position(), 'wrong_type', 'the element is no conversation: it has no mapping of nodes');
    }
  }

  finish(): void {}

  private conversation(conversation: Json, mapping: Json, frame: Frame, isWholeFile: boolean): void {
    const stem = isWholeFile ? this.context.source.name : null;
    const sessionId = nameField(conversation, 'conversation_id') ?? nameField(conversation, 'id') ?? stem;
    if (sessionId === null) {
      this.out.badRecord(frame.position(), 'no_id', 'the conversation has no id');
      return;
    }
    const nodes = this.readNodes(mapping, frame);
    if (nodes.size === 0) return;
    for (const { node, isActive } of inReadingOrder(nodes, nameField(conversation, 'current_node'))) {
      const position = this.placeOf(node.id, frame, this.nodes++);
      if (node.message !== null) this.node(node, node.message, sessionId, position, isActive);
    }
    const extra = {
      gizmo_id: nameField(conversation, 'gizmo_id'),
      project: nameField(conversation, 'conversation_template_id'),
    };
    this.out.session(
      sessionFields({
        session_id: sessionId,
        title: nameField(conversation, 'title'),
        extra: extra.gizmo_id === null && extra.project === null ? null : extra,
      }),
    );
  }

  private readNodes(mapping: Json, frame: Frame): Map<string, TreeNode> {
    const nodes = new Map<string, TreeNode>();
    for (const [id, value] of Object.entries(mapping)) {
      const node = readNode(id, value);
      const fault = node === null ? 'the node is no object with a message' : node.message && messageFault(node.message);
      if (fault) this.out.badRecord(this.placeOf(id, frame, frame.ordinal), 'wrong_type', fault);
      // A node that says nothing still ties what stands below it to what is above.
      if (node !== null) nodes.set(id, fault ? { ...node, message: null } : node);
    }
    return nodes;
  }

  private placeOf(id: string, frame: Frame, ordinal: number): Position {
    return { ordinal, byteStart: null, byteEnd: null, locator: `${frame.locator}${pointer('mapping', id)}` };
  }

  private node(node: TreeNode, message: Json, sessionId: string, position: Position, isActive: boolean): void {
    const id = nameField(message, 'id') ?? node.id;
    const time = epochTime(node.created, 's');
    const at = (slot: string): EventAt => eventAt(sessionId, id, slot, position, time);
    const content = readContent(message);
    if (content.unknownType !== null) this.out.unknown(content.unknownType);
    const told = { message, content, at, node, isActive };
    const author = objectField(message, 'author') ?? {};
    const role = stringField(author, 'role') ?? '';
    const recipient = nameField(message, 'recipient');
    if (role === 'tool' || content.isError) this.result(told);
    else if (role === 'assistant' && recipient !== null && recipient !== 'all') this.call(told, recipient);
    else if (role === 'user' || role === 'assistant' || role === 'system') this.message(told, role, author);
    else this.out.unknown(`message/${role === '' ? '(no role)' : role}`);
  }

  private call({ content, at, message, node }: Told, name: string): void {
    this.out.toolCall(
      at('call'),
      toolCallFields({ message_id: nameField(message, 'id') ?? node.id, name, arguments: content.text }),
    );
  }

  private result({ content, at }: Told): void {
    this.out.toolResult(
      at('result'),
      toolResultFields({ is_error: content.isError ? true : null, output: content.text }),
    );
  }

  private message({ content, at, message, node, isActive }: Told, role: string, author: Json): void {
    const { text, thinking } = content;
    if (text === null && thinking === null) return;
    // Nobody typed these: custom instructions, memory, what the client sends along.
    const isHidden =
      dig(message, 'metadata', 'is_visually_hidden_from_conversation') === true ||
      boolField(objectField(message, 'metadata') ?? {}, 'is_user_system_message') === true;
    this.out.message(
      at('message'),
      messageFields({
        role,
        message_id: nameField(message, 'id') ?? node.id,
        record_id: node.id,
        parent_record_id: node.parent,
        author: nameField(author, 'name'),
        kind: 'message',
        model: nameField(objectField(message, 'metadata') ?? {}, 'model_slug'),
        text,
        thinking,
        is_meta: role === 'system' || isHidden || content.isContext,
        is_active: isActive,
        content_kinds: [...content.kinds],
      }),
    );
  }
}
