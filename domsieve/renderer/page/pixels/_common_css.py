"""Which names of CSS ordinary pages use.

They are used by at least 3 of 97 packages of style sheets and scripts for sites, such as Bootstrap, the blocks of
WordPress, and sliders, or by one in a hundred of 1,418 pages of the development data of WCXB that have styles, or
cannot hide texts. Of these pages, less than one in a hundred uses others. Prefixes (``-webkit-``) are left out.
"""

_COMMON_PROPERTIES = """
    accent-color align-content align-items align-self alignment-baseline all animation animation-delay
    animation-direction animation-duration animation-fill-mode animation-iteration-count animation-name
    animation-play-state animation-timing-function app-region appearance aspect-ratio backdrop-filter
    backface-visibility background background-attachment background-blend-mode background-clip background-color
    background-image background-origin background-position background-position-x background-position-y
    background-repeat background-size baseline-shift baseline-source block-size border border-after border-before
    border-block border-block-color border-block-end border-block-end-color border-block-end-style
    border-block-end-width border-block-start border-block-start-color border-block-start-style
    border-block-start-width border-block-style border-block-width border-bottom border-bottom-color
    border-bottom-left-radius border-bottom-right-radius border-bottom-style border-bottom-width border-collapse
    border-color border-end-end-radius border-end-start-radius border-image border-image-outset border-image-repeat
    border-image-slice border-image-source border-image-width border-inline border-inline-color border-inline-end
    border-inline-end-color border-inline-end-style border-inline-end-width border-inline-start
    border-inline-start-color border-inline-start-style border-inline-start-width border-inline-style
    border-inline-width border-left border-left-color border-left-style border-left-width border-radius border-right
    border-right-color border-right-style border-right-width border-spacing border-start-end-radius
    border-start-start-radius border-style border-top border-top-color border-top-left-radius
    border-top-right-radius border-top-style border-top-width border-width bottom box-align box-decoration-break
    box-direction box-flex box-ordinal-group box-orient box-pack box-shadow box-sizing break-after break-before
    break-inside buffered-rendering caption-side caret caret-color caret-shape clear clip clip-path clip-rule color
    color-interpolation color-interpolation-filters color-rendering color-scheme column-break-inside column-count
    column-fill column-gap column-rule column-rule-color column-rule-style column-rule-width column-span
    column-width columns contain contain-intrinsic-block-size contain-intrinsic-height contain-intrinsic-inline-size
    contain-intrinsic-size contain-intrinsic-width container container-name container-type content
    content-visibility counter-increment counter-reset counter-set cursor cx cy d direction display
    dominant-baseline dynamic-range-limit empty-cells field-sizing fill fill-opacity fill-rule filter flex
    flex-basis flex-direction flex-flow flex-grow flex-shrink flex-wrap float flood-color flood-opacity font
    font-family font-feature-settings font-kerning font-language-override font-optical-sizing font-palette font-size
    font-smooth font-smoothing font-stretch font-style font-synthesis font-synthesis-small-caps font-synthesis-style
    font-synthesis-weight font-variant font-variant-alternates font-variant-caps font-variant-east-asian
    font-variant-emoji font-variant-ligatures font-variant-numeric font-variant-position font-variation-settings
    font-weight forced-color-adjust gap grid grid-area grid-auto-columns grid-auto-flow grid-auto-rows grid-column
    grid-column-end grid-column-gap grid-column-start grid-gap grid-row grid-row-end grid-row-gap grid-row-start
    grid-template grid-template-areas grid-template-columns grid-template-rows height
    hyphenate-limit-chars hyphens image-orientation image-rendering inline-size inset inset-block inset-block-end
    inset-block-start inset-inline inset-inline-end inset-inline-start interpolate-size isolation justify-content
    justify-items justify-self left letter-spacing lighting-color line-break line-clamp line-height list-style
    list-style-image list-style-position list-style-type margin margin-after margin-before margin-block
    margin-block-end margin-block-start margin-bottom margin-end margin-inline margin-inline-end margin-inline-start
    margin-left margin-right margin-start margin-top margin-trim marker marker-end marker-mid marker-start mask
    mask-clip mask-composite mask-image mask-mode mask-origin mask-position mask-repeat mask-size mask-type
    math-depth math-shift math-style max-block-size max-height max-inline-size max-width min-block-size min-height
    min-inline-size min-width mix-blend-mode object-fit object-position offset offset-anchor offset-distance
    offset-path offset-position offset-rotate opacity order orphans outline outline-color outline-offset
    outline-style outline-width overflow overflow-anchor overflow-block overflow-clip-margin overflow-inline
    overflow-wrap overflow-x overflow-y overlay overscroll-behavior overscroll-behavior-block
    overscroll-behavior-inline overscroll-behavior-x overscroll-behavior-y padding padding-after padding-before
    padding-block padding-block-end padding-block-start padding-bottom padding-end padding-inline padding-inline-end
    padding-inline-start padding-left padding-right padding-start padding-top page page-break-after
    page-break-before page-break-inside paint-order perspective perspective-origin place-content place-items
    place-self pointer-events position print-color-adjust quotes r resize right rotate row-gap ruby-align
    ruby-overhang ruby-position rx ry scale scroll-behavior scroll-margin scroll-margin-block
    scroll-margin-block-end scroll-margin-block-start scroll-margin-bottom scroll-margin-inline
    scroll-margin-inline-end scroll-margin-inline-start scroll-margin-left scroll-margin-right scroll-margin-top
    scroll-padding scroll-padding-block scroll-padding-block-end scroll-padding-block-start scroll-padding-bottom
    scroll-padding-inline scroll-padding-inline-end scroll-padding-inline-start scroll-padding-left
    scroll-padding-right scroll-padding-top scroll-snap-align scroll-snap-stop scroll-snap-type scrollbar-color
    scrollbar-gutter scrollbar-width shape-image-threshold shape-margin shape-outside shape-rendering size speak
    stop-color stop-opacity stroke stroke-dasharray stroke-dashoffset stroke-linecap stroke-linejoin
    stroke-miterlimit stroke-opacity stroke-width tab-size table-layout tap-highlight-color text-align
    text-align-last text-anchor text-autospace text-box text-box-edge text-box-trim text-combine-upright
    text-decoration text-decoration-color text-decoration-line text-decoration-skip text-decoration-skip-ink
    text-decoration-style text-decoration-thickness text-emphasis text-emphasis-color text-emphasis-position
    text-emphasis-style text-fill-color text-indent text-justify text-orientation text-overflow text-rendering
    text-shadow text-size-adjust text-spacing-trim text-stroke text-stroke-color text-stroke-width text-transform
    text-underline-offset text-underline-position text-wrap text-wrap-mode text-wrap-style top touch-action
    transform transform-box transform-origin transform-style transition transition-behavior transition-delay
    transition-duration transition-property transition-timing-function translate unicode-bidi user-drag user-modify
    user-select vector-effect vertical-align view-transition-class view-transition-group view-transition-name
    visibility white-space white-space-collapse widows width will-change word-break word-spacing word-wrap
    writing-mode x y z-index zoom
"""
COMMON_PROPERTIES = frozenset(_COMMON_PROPERTIES.split())
"""Properties."""
_COMMON_SELECTORS = """
    ::after ::backdrop ::before ::cue ::details-content ::file-selector-button ::first-letter ::first-line
    ::grammar-error ::highlight ::marker ::part ::placeholder ::selection ::slotted ::spelling-error ::target-text
    ::view-transition ::view-transition-group ::view-transition-image-pair ::view-transition-new
    ::view-transition-old :active :active-view-transition :active-view-transition-type :after :any-link :autofill
    :before :blank :checked :corner-present :decrement :default :defined :dir :disabled :double-button :empty
    :enabled :end :first :first-child :first-letter :first-line :first-of-type :focus :focus-visible :focus-within
    :fullscreen :has :horizontal :host :host-context :hover :in-range :increment :indeterminate :invalid :is :lang
    :last-child :last-of-type :left :link :modal :no-button :not :nth-child :nth-last-child :nth-last-of-type
    :nth-of-type :only-child :only-of-type :open :optional :out-of-range :picture-in-picture :placeholder-shown
    :popover-open :read-only :read-write :required :right :root :scope :single-button :start :state :target
    :user-invalid :user-valid :valid :vertical :visited :where :window-inactive
"""
COMMON_SELECTORS = frozenset(_COMMON_SELECTORS.split())
"""Pseudo-classes and pseudo-elements; all with prefixes are common."""
_COMMON_RULES = """
    charset container font-face import keyframes layer media namespace page property starting-style supports
    view-transition
"""
COMMON_RULES = frozenset(_COMMON_RULES.split())
"""At-rules."""
_RARE_FUNCTIONS = """
    anchor anchor-size anchored calc-size contrast-color cross-fade element ident image inherit paint param progress
    random random-item ray scroll scroll-state shape sibling-count sibling-index style superellipse toggle view
"""
RARE_FUNCTIONS = frozenset(_RARE_FUNCTIONS.split())
"""Functions that hardly any page has. Other words stand before brackets, too, so that the rare ones are listed."""
