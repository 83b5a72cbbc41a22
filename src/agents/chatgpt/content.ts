/** Contents of messages by their `content_type`. */
import {
  asObject,
  field,
  type Json,
  joinTexts,
  listField,
  objectField,
  objectsField,
  stringField,
} from '../dialects/json.ts';

export interface Content {
  /** What is said, or what a tool was given or gave. */
  readonly text: string | null;
  readonly thinking: string | null;
  /** Settings and memory that stand in the conversation as if they had been typed. */
  readonly isContext: boolean;
  readonly isError: boolean;
  readonly kinds: readonly string[];
  /** Set where the type is not known; what it says is read as far as it looks like text. */
  readonly unknownType: string | null;
}

const NOTHING: Content = {
  text: null,
  thinking: null,
  isContext: false,
  isError: false,
  kinds: [],
  unknownType: null,
};

const said = (text: string | null, more: Partial<Content> = {}): Content => ({
  ...NOTHING,
  text: text === '' ? null : text,
  kinds: text === null || text === '' ? [] : ['text'],
  ...more,
});

/** Texts of parts; spoken ones as they were transcribed. Pictures and sounds are pointers to files. */
function partsText(content: Json): string | null {
  return joinTexts(
    listField(content, 'parts').map((part) => {
      if (typeof part === 'string') return part;
      const object = asObject(part);
      if (object === null || stringField(object, 'content_type') !== 'audio_transcription') return null;
      return stringField(object, 'text');
    }),
  );
}

function partKinds(content: Json): string[] {
  const kinds = new Set<string>();
  for (const part of listField(content, 'parts')) {
    if (typeof part === 'string') {
      if (part !== '') kinds.add('text');
      continue;
    }
    const object = asObject(part);
    const type = object === null ? '' : (stringField(object, 'content_type') ?? '');
    if (type === 'audio_transcription') kinds.add('text');
    else if (type.startsWith('image')) kinds.add('image');
    else if (type !== '') kinds.add('media');
  }
  return [...kinds];
}

function thoughtsOf(content: Json): Content {
  const thinking = joinTexts(
    objectsField(content, 'thoughts').map(
      (thought) => stringField(thought, 'content') || stringField(thought, 'summary'),
    ),
  );
  return { ...NOTHING, thinking, kinds: thinking === null ? [] : ['thinking'] };
}

/** Reads what a message holds; nothing where it has no content object. */
export function readContent(message: Json): Content {
  const content = objectField(message, 'content');
  if (content === null) return NOTHING;
  const type = stringField(content, 'content_type') ?? '';
  switch (type) {
    case 'text':
    case 'multimodal_text':
      return said(partsText(content), { kinds: partKinds(content) });
    case 'code':
    case 'execution_output':
    case 'tether_quote':
      return said(stringField(content, 'text'));
    case 'tether_browsing_display':
      return said(stringField(content, 'result'));
    case 'system_error':
      return said(joinTexts([stringField(content, 'name'), stringField(content, 'text')]), { isError: true });
    case 'thoughts':
      return thoughtsOf(content);
    case 'reasoning_recap':
      return NOTHING;
    case 'user_editable_context':
      return said(joinTexts([stringField(content, 'user_profile'), stringField(content, 'user_instructions')]), {
        isContext: true,
      });
    case 'model_editable_context':
      return said(stringField(content, 'model_set_context'), { isContext: true });
    default: {
      const text = partsText(content) ?? stringField(content, 'text');
      return said(text, { unknownType: `content/${type === '' ? '(no type)' : type}` });
    }
  }
}

/** What is wrong with a message's types; null where nothing that is told is lost. */
export function messageFault(message: Json): string | null {
  const author = field(message, 'author');
  if (asObject(author) === null) return 'a message without an author';
  const content = field(message, 'content');
  if (content !== null && content !== undefined && asObject(content) === null) return 'the content is no object';
  const parts = asObject(content) === null ? undefined : field(asObject(content)!, 'parts');
  return parts === undefined || parts === null || Array.isArray(parts) ? null : 'the parts of the content are no list';
}
