" Vim syntax file for equation files of Daedalus (*.deq)
if exists("b:current_syntax")
  finish
endif
syn keyword deqDeclare model param const int var discrete let choice fn table component use
syn keyword deqBlock for in if then elseif else end when every at from stop record init where
syn keyword deqList solve output plot score prefer avoid reference digits against log outside column
syn keyword deqOperator and or not
syn keyword deqFunction der sum prod noevent pre sin cos tan asin acos atan atan2 sinh cosh tanh exp log10 sqrt cbrt abs sign
syn keyword deqFunction floor ceil min max pow mod hypot step smoothstep
syn keyword deqConstant t time pi e
syn match deqNumber "\<\d\+\(\.\d*\)\?\([eE][-+]\?\d\+\)\?"
syn match deqUnit "\(\d\s*\)\@<=\[[^]]*\]"
syn match deqPrime "'\+"
syn match deqLabel "^\s*\h\w*\ze:\([^=]\|$\)"
syn region deqString start=+"+ end=+"+ oneline
syn match deqComment "#.*$"
hi def link deqDeclare Type
hi def link deqBlock Statement
hi def link deqList PreProc
hi def link deqOperator Operator
hi def link deqFunction Function
hi def link deqConstant Constant
hi def link deqNumber Number
hi def link deqUnit Special
hi def link deqPrime Operator
hi def link deqLabel Label
hi def link deqString String
hi def link deqComment Comment
let b:current_syntax = "deq"
