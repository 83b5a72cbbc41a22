/** The vocabulary of the invented text. None of it comes from a real session. */

export const NOUNS =
  'account adapter alarm anchor answer archive array asset audit badge balance banner basket batch beacon binding block board boundary bridge budget buffer bundle button cache calendar canvas cart catalog channel chart checksum circuit client clock cluster column command comment commit config contact context cookie counter courier credit cursor customer dataset deadline delta device dialog digest discount document domain draft driver editor element endpoint engine entry envelope event export factor feature feed field filter fixture flag folder format frame gateway graph group guard handler header history hook host image import index ingest input invoice issue item job journal kernel key label layer layout lease ledger level limit link list listener loader locale lock log loop mailbox manifest map margin market matrix menu merge message meter method metric mirror model module monitor mutex node note notice number object offer offset option order origin output owner package packet page panel parcel parser partition patch path payload payment peer period picker pipeline planner plugin point policy pool port prefix preview price printer probe process product profile project prompt proof proxy queue quota range rate reader receipt record region registry release render reply report request resource result retry review role route router row rule runner sample scanner schedule schema scope screen script search section segment sensor sequence server session setting shard shape shelf signal site slice slot snapshot socket source span stage state status step stock storage store stream subject summary supplier switch symbol system table tag target task template tenant term test theme thread ticket timer token tool topic total trace track transfer tree trigger tunnel type unit update upload user value vector version vertex view visitor volume voucher wallet warehouse watch weight widget window worker writer zone'.split(
    ' ',
  );

export const VERBS =
  'accept add align append apply assign attach await balance bind bound buffer build cache cancel check claim clean clear clone close collect commit compare compute connect convert copy count create decode defer delete deliver derive detect drain drop emit encode ensure escape expand export extract fetch fill filter find finish flatten flush format freeze gather guard handle hash import index insert inspect install join keep load lock log map mark match measure merge migrate mount move normalize notify observe open order pack parse pause persist pick plan poll prepare print probe process prune publish pull push query queue read receive record reduce refresh register release reload remove rename render repair replace report reset resolve restore resume retry revoke rotate route run sample save scan schedule search select send settle shift skip sort split stage start stop store stream submit subscribe sync tag take test throttle trace track transform trim update upgrade upload validate verify wait walk warm watch wrap write yield'.split(
    ' ',
  );

export const FILLERS =
  'a the the the of of to to and and in in is it that for on with as at by from this be are was not or an we you they its only also then still both each when where which because before after while so if but there here now again already always never usually without inside outside between under over once twice instead rather however therefore enough more most less least first second last new old same other small large empty full current previous next'.split(
    ' ',
  );

export const EXTENSIONS = ['ts', 'tsx', 'ts', 'js', 'json', 'md', 'py', 'rs', 'go', 'sql', 'css', 'yaml'];

/** Sentences with every width of UTF-8: accents, Cyrillic, CJK, Hangul, joined emoji and the line separator U+2028. */
export const WORLD_SENTENCES = [
  'テストを実行してから、失敗した箇所だけを直してください。',
  'この関数は空の配列を受け取ると例外を投げます。',
  '設定ファイルの読み込み順序が変わったため、既定値が上書きされています。',
  '在庫の数が合わないので、もう一度数え直します。',
  '請先檢查日誌，再決定是否需要重試。',
  '这个接口在并发请求下会返回重复的记录。',
  '修改之后所有单元测试都通过了，但是端到端测试还没有运行。',
  '缓存键里缺少租户编号，所以不同客户看到了同一页。',
  '이 함수는 마지막 줄을 두 번 읽습니다.',
  '먼저 설정을 확인하고 다시 시도해 주세요.',
  'Проверьте, пожалуйста, порядок миграций перед выпуском.',
  'Счётчик увеличивается дважды, если запрос повторяется.',
  'Die Größe der Warteschlange wächst, weil der Zähler übersprungen wird.',
  'Können wir die Prüfung später ausführen? Das Gerät antwortet nicht.',
  'La requête échoue à cause d’un délai trop court côté serveur.',
  'Le résultat a été validé, mais l’export reste incomplet.',
  '¿Puedes añadir una prueba para el año bisiesto?',
  'La señal llegó tarde y el búfer quedó vacío.',
  'Żółta gęś skacze przez płot i gubi ogłoszenie.',
  'İşlem tamamlandı, ancak günlük dosyası boş kaldı.',
  '✅ 完了しました 🎉 次は型の修正です 🚀',
  '⚠️ Warnung: drei Prüfungen übersprungen 🧪',
  '👩‍💻 el equipo revisó 12 ficheros 📦 y encontró 2 errores 🐛',
  '第一段\u2028第二段 — の間に行区切りがあります。',
  'Διόρθωσα τον μετρητή και πρόσθεσα έναν έλεγχο.',
  'השדה ריק ולכן הרשומה לא נשמרה.',
  'تم تحديث الجدول ولكن الفهرس قديم.',
  '𝒇(𝒙) = 𝒙² — les symboles hors du plan de base prennent quatre octets 🧮',
];

/** Frames around the world's sentences, so that a line is rarely the same twice. */
export const WORLD_FRAMES = ['→', '—', '※', '•', '«»', '…', '№', '±', '§', '「」'];

export const PROJECTS = [
  '/home/dev/app',
  '/home/dev/shop-backend',
  '/home/dev/work/warehouse-sync',
  '/home/dev/work/mobile client',
  '/home/dev/src/parser.experiments',
  '/home/dev/プロジェクト/在庫管理',
  '/srv/checkouts/billing',
  '/home/dev/work/design-system',
  '/home/dev/dotfiles',
  '/home/dev/src/größenrechner',
];

export const BRANCHES = [
  'main',
  'main',
  'main',
  'develop',
  'fix/retry-loop',
  'feat/batch-export',
  'worktree-204',
  'HEAD',
];
